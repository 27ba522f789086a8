package echomq

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// PayloadTransform changes encoded payloads and results on their way into the
// store and back: it encrypts them, or compresses them. Its methods are called
// by many goroutines at once.
type PayloadTransform interface {
	// Name stands with each job, in its field codec, so that it is opened by the
	// transform that sealed it: 1 to 32 of a-z, 0-9 and '-'. A transform whose
	// output another version could not open needs another name, and so does
	// another key.
	Name() string
	// Seal returns what is to be stored for an encoded payload or result of a
	// job of the queue.
	Seal(queue, job string, plain []byte) ([]byte, error)
	// Open returns what was given to Seal. An error fails the job at once, its
	// bytes kept: a repetition would not help.
	Open(queue, job string, sealed []byte) ([]byte, error)
}

// TransformPayloads has the payloads of all jobs that a client adds sealed by
// the first transform, and their results by the transform of their job. Jobs that
// one of the others has sealed can be opened too: those with an earlier key, say.
// A worker gives back, unharmed, a job that none of its client's transforms has
// sealed, as it does with a payload of a newer version.
//
// Names, ids, errors, progress and log lines are not sealed. The limit of
// [PayloadLimit] holds for both forms. A result is opened by a client that has
// its job's transform.
func TransformPayloads(seal PayloadTransform, others ...PayloadTransform) ClientOption {
	return clientOption(func(c *clientConfig) { c.transforms = append(transforms{seal}, others...) })
}

// transforms are those of a client; the first seals.
type transforms []PayloadTransform

var transformName = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// codecJSON is the codec of a payload whose field codec is empty.
const codecJSON = "json"

func (t transforms) check() error {
	names := make(map[string]bool)
	for _, transform := range t {
		if transform == nil {
			return optionError("TransformPayloads: a transform is nil")
		}
		name := transform.Name()
		if !transformName.MatchString(name) {
			return optionError("TransformPayloads: name %q: it must be 1 to 32 of a-z, 0-9 and '-'", name)
		}
		if names[name] {
			return optionError("TransformPayloads: two transforms are called %q", name)
		}
		names[name] = true
	}
	return nil
}

// splitCodec returns the encoding that a job's field codec names, empty for
// JSON, and the name of the transform, empty for none.
func splitCodec(codec string) (encoding, transform string) {
	encoding, transform, _ = strings.Cut(codec, "+")
	if encoding == codecJSON {
		encoding = ""
	}
	return encoding, transform
}

// find returns the transform by its name.
func (t transforms) find(name string) PayloadTransform {
	for _, transform := range t {
		if transform != nil && transform.Name() == name {
			return transform
		}
	}
	return nil
}

// seal seals an encoded payload and returns it with the job's field codec.
// encoding is that of the payload, empty for JSON.
func (t transforms) seal(queue, job, encoding string, plain []byte) (sealed []byte, codec string, err error) {
	if len(t) == 0 {
		return plain, encoding, nil
	}
	if err := t.check(); err != nil {
		return nil, "", err
	}
	if encoding == "" {
		encoding = codecJSON
	}
	sealed, err = transformed(t[0].Seal, queue, job, plain)
	return sealed, encoding + "+" + t[0].Name(), err
}

// sealResult seals the result of a job as its payload was sealed.
func (t transforms) sealResult(queue, job, codec string, plain []byte) ([]byte, error) {
	return t.with(PayloadTransform.Seal, queue, job, codec, plain)
}

// open returns the plain form of the payload or the result of a job.
func (t transforms) open(queue, job, codec string, sealed []byte) ([]byte, error) {
	return t.with(PayloadTransform.Open, queue, job, codec, sealed)
}

func (t transforms) with(method func(PayloadTransform, string, string, []byte) ([]byte, error), queue, job, codec string, data []byte) ([]byte, error) {
	_, name := splitCodec(codec)
	if name == "" {
		return data, nil
	}
	transform := t.find(name)
	if transform == nil {
		return nil, fmt.Errorf("it is sealed by transform %q; give the client TransformPayloads with it", name)
	}
	return transformed(func(queue, job string, data []byte) ([]byte, error) {
		return method(transform, queue, job, data)
	}, queue, job, data)
}

// transformed calls a transform's method. What it panics with is its error.
func transformed(method func(queue, job string, data []byte) ([]byte, error), queue, job string, data []byte) (out []byte, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("the transform panicked: %v", reason)
		}
	}()
	out, err = method(queue, job, data)
	if err == nil && len(out) == 0 {
		err = errors.New("the transform returned nothing")
	}
	return out, err
}
