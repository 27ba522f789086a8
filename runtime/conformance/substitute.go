package conformance

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/embedded"
	"github.com/echomq/echomq-go/runtime/internal/monitor"
)

// substitute is a private engine that is asked which arguments of a command are
// keys, where the engine that is watched cannot tell.
type substitute struct {
	server *embedded.Server
	client *redis.Client
}

// learn decides whom to ask about the commands that are seen: the node, or, if
// it has no COMMAND GETKEYSANDFLAGS, a private engine.
func (c *capture) learn(ctx context.Context) error {
	err := c.client.Do(ctx, "COMMAND", "GETKEYSANDFLAGS", "GET", "k").Err()
	var refused redis.Error
	switch {
	case err == nil:
		c.keys = monitor.NewKeys(c.client)
		return nil
	case !errors.As(err, &refused) || redis.HasErrorPrefix(err, "NOPERM"):
		return fmt.Errorf("ask %s for the keys of a command: %w", c.node, err)
	}
	server, missing := embedded.Start(context.WithoutCancel(ctx), embedded.Process(), embedded.Logger(nil))
	if missing != nil {
		return fmt.Errorf("%s cannot tell the keys of a command (%w), and no other engine is installed that could be asked: %w", c.node, err, missing)
	}
	options := server.Options()
	options.Protocol = 2
	c.substitute = &substitute{server: server, client: redis.NewClient(options)}
	c.keys = monitor.NewKeys(c.substitute.client)
	return nil
}

// note says in a report that there is a substitute.
func (s *substitute) note() []string {
	if s == nil {
		return nil
	}
	return []string{"the engine cannot tell which arguments of a command are keys; " + s.server.Engine() + " was asked instead"}
}

func (s *substitute) close() {
	if s != nil {
		_ = s.client.Close()
		_ = s.server.Close()
	}
}
