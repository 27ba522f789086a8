package echomq_test

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"strings"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/embedded"
)

// encrypted seals payloads and results with AES-GCM. Its name says which key it
// has, so that a key can be replaced while jobs sealed with the earlier one still
// wait.
type encrypted struct {
	name string
	aead cipher.AEAD
}

func newEncrypted(name string, key []byte) (*encrypted, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	return &encrypted{name: name, aead: aead}, err
}

func (e *encrypted) Name() string { return e.name }

// Seal returns a new nonce and what it sealed. The queue and the job are
// authenticated too: what was sealed for one job cannot be passed off as
// another's.
func (e *encrypted) Seal(queue, job string, plain []byte) ([]byte, error) {
	nonce := make([]byte, e.aead.NonceSize(), e.aead.NonceSize()+len(plain)+e.aead.Overhead())
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	return e.aead.Seal(nonce, nonce, plain, []byte(queue+"/"+job)), nil
}

func (e *encrypted) Open(queue, job string, sealed []byte) ([]byte, error) {
	if len(sealed) < e.aead.NonceSize() {
		return nil, errors.New("it is shorter than a nonce")
	}
	nonce, rest := sealed[:e.aead.NonceSize()], sealed[e.aead.NonceSize():]
	return e.aead.Open(nil, nonce, rest, []byte(queue+"/"+job))
}

// Payloads and results are encrypted in the store, and neither producers nor
// handlers see it.
func ExampleTransformPayloads() {
	ctx := context.Background()
	silent := slog.New(slog.DiscardHandler)
	server, err := embedded.Start(ctx, embedded.Logger(silent))
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	secret, err := newEncrypted("aes-gcm-2026-11", []byte("thirty-two bytes of a secret key"))
	if err != nil {
		log.Fatal(err)
	}
	client := echomq.NewClient(server.Redis(), echomq.WithLogger(silent), echomq.TransformPayloads(secret))
	defer func() { _ = client.Close() }()
	defer work(client, sendWelcome)()

	handle, err := echomq.Enqueue(ctx, echomq.NewProducer(client, MailSpec()), WelcomeJob(), Welcome{UserID: 7})
	if err != nil {
		log.Fatal(err)
	}
	receipt, err := handle.Await(ctx)
	fmt.Println(receipt.MessageID, err)

	stored := server.Redis().HMGet(ctx, "emq:{mail}:"+handle.ID, "cdc", "data", "returnvalue").Val()
	fmt.Println("codec:", stored[0])
	fmt.Println("readable in the store:", strings.Contains(fmt.Sprint(stored), "userId") || strings.Contains(fmt.Sprint(stored), "message-7"))
	// Output:
	// message-7 <nil>
	// codec: json+aes-gcm-2026-11
	// readable in the store: false
}
