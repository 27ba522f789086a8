package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/echomq/echomq-go/runtime/acl"
	"github.com/echomq/echomq-go/runtime/wire"
)

const aclLong = `Prints the command ACL SETUSER that gives a user of the store what one role needs
for the queues, and nothing else: commands from the bodies of the scripts that
the role calls, keys from their headers, and what the runtime sends beside them.

    producer  adds jobs, asks where they stand, awaits their results
    worker    runs jobs, and does the housekeeping of their queues
    flow      beside worker: adds children to their queues and reports to parents
              in theirs; for workers of queues with flows, for all of these queues;
              and beside producer, for parents' queues of programs that send flows
    operator  may what both may, and read the queues by hand

The command stands alone on standard output, for the store's command line client;
two lines about it are on standard error. It works on Redis 7.0, Valkey 8 and
later, may be repeated, and does not touch the user's passwords.

It replaces the rights that the user has. With --also it adds to them: for a
program that works on one queue and adds jobs to another, print the worker's rule
for the one, and then the producer's with --also for the other.

A script that lacks a right is refused at the command that wants it, not as a
whole. So renew the rules before you upgrade programs, and change a rule only to
what this command prints.

With --json it prints one object:

    role, user, queues
    rule       the command, as without --json
    arguments  array of its words; a selector is one of them
    grants     array of objects with "commands" and "keys", arrays both: a command
               may be run if one grant has it and all its keys
    optional   array of the commands without which the role goes on`

// aclFlags are the flags of acl.
type aclFlags struct {
	queues   []string
	user     string
	legacy   []string
	database int
	acks     bool
	also     bool
	json     bool
}

func newACL() *cobra.Command {
	var flags aclFlags
	cmd := &cobra.Command{
		Use:   "acl producer|worker|flow|operator --queue NAME…",
		Short: "Print the access rule with which a user may do what a role needs, and nothing else",
		Long:  aclLong,
		Example: "  emq acl worker --queue orders | valkey-cli\n" +
			"  emq acl producer --queue orders,fills --user shop\n" +
			"  emq acl producer --queue mail --user emq-worker --also",
		Args: func(_ *cobra.Command, roles []string) error {
			if len(roles) != 1 {
				return fmt.Errorf("give one role, producer, worker, flow or operator, and the queues after --queue")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, roles []string) error {
			request, err := flags.request(roles[0])
			if err != nil {
				return err
			}
			rule, err := acl.RuleFor(request)
			if err != nil {
				return err
			}
			show := printRule
			if flags.json {
				show = printRuleJSON
			}
			if err := show(cmd, request, rule); err != nil {
				return fmt.Errorf("print the rule: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&flags.queues, "queue", nil, "the queue called `NAME`; several with commas, or by repeating the flag")
	cmd.Flags().StringVar(&flags.user, "user", "", "the user's `NAME` (default \"emq-\" and the role)")
	cmd.Flags().StringSliceVar(&flags.legacy, "legacy", []string{"bull"}, "the `PREFIX` under which the program looks for v1 queues, as its option LegacyPrefixes has it")
	cmd.Flags().IntVar(&flags.database, "db", 0, "the `NUMBER` of the database that the program selects")
	cmd.Flags().BoolVar(&flags.acks, "replica-ack", false, "for a program with the option WithReplicaAck, which needs to let keys of the queues expire")
	cmd.Flags().BoolVar(&flags.also, "also", false, "add to the rights that the user has")
	cmd.Flags().BoolVar(&flags.json, "json", false, "print JSON")
	return cmd
}

func (f *aclFlags) request(name string) (acl.Request, error) {
	role, err := acl.ParseRole(name)
	if err != nil {
		return acl.Request{}, err
	}
	if len(f.queues) == 0 {
		return acl.Request{}, fmt.Errorf("give one or more queues: --queue NAME")
	}
	request := acl.Request{Role: role, User: f.user, Legacy: f.legacy, Database: f.database, ReplicaAck: f.acks, Also: f.also}
	if request.User == "" {
		request.User = "emq-" + name
	}
	for _, name := range f.queues {
		queue, err := wire.ParseQueue(name)
		if err != nil {
			return acl.Request{}, err
		}
		request.Queues = append(request.Queues, queue)
	}
	return request, nil
}

func printRule(cmd *cobra.Command, request acl.Request, rule acl.Rule) error {
	if _, err := fmt.Fprintln(cmd.OutOrStdout(), rule); err != nil {
		return err
	}
	return explainRule(cmd.ErrOrStderr(), request)
}

func explainRule(errs io.Writer, request acl.Request) error {
	_, err := fmt.Fprintf(errs, "# %[1]s may run, on the keys and the control channel of %[3]s, the commands of the scripts %[2]s and of the runtime; on other keys nothing but first contact.\n"+
		"# A new user cannot log in before it has a password: ACL SETUSER %[1]s >PASSWORD. ACL SAVE or CONFIG REWRITE keeps users over a restart.\n",
		request.User, strings.Join(request.Role.Scripts(), ", "), queueNames(request.Queues))
	return err
}

func queueNames(queues []wire.Queue) string {
	names := make([]string, len(queues))
	for i, queue := range queues {
		names[i] = queue.Name()
	}
	if len(names) == 1 {
		return "queue " + names[0]
	}
	return "queues " + strings.Join(names, ", ")
}

func printRuleJSON(cmd *cobra.Command, request acl.Request, rule acl.Rule) error {
	type grant struct {
		Commands []string `json:"commands"`
		Keys     []string `json:"keys"`
		Channels []string `json:"channels,omitempty"`
	}
	printed := struct {
		Role      string   `json:"role"`
		User      string   `json:"user"`
		Queues    []string `json:"queues"`
		Rule      string   `json:"rule"`
		Arguments []string `json:"arguments"`
		Grants    []grant  `json:"grants"`
		Optional  []string `json:"optional"`
	}{Role: string(request.Role), User: rule.User, Rule: rule.String(), Arguments: rule.Args(), Optional: []string{}}
	for _, queue := range request.Queues {
		printed.Queues = append(printed.Queues, queue.Name())
	}
	for _, g := range rule.Grants {
		printed.Grants = append(printed.Grants, grant(g))
	}
	for _, command := range request.Role.Commands(request.ReplicaAck) {
		if command.Optional {
			printed.Optional = append(printed.Optional, command.Name)
		}
	}
	encoder := json.NewEncoder(cmd.OutOrStdout())
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(printed)
}
