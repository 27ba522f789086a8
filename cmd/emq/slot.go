package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/echomq/echomq-go/runtime/wire"
)

func newSlot() *cobra.Command {
	var queue string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "slot KEY… | --queue NAME",
		Short: "Show the hash tag and slot of keys, and whether one script could touch them all",
		Long: `Shows the hash tag and slot of each key, and whether they all share a slot, so
that one script could touch them. Exits with 1 if they do not.

With --queue it shows all keys of that queue instead, and those of a job in it
whose id is "ID".

With --json it prints one object: "keys", an array of objects with "key", "tag"
and "slot", and "shared", whether all slots are the same.`,
		Example: "  emq slot 'emq:{orders}:wait' 'emq:{fills}:wait'\n  emq slot --queue payments",
		RunE: func(cmd *cobra.Command, keys []string) error {
			byQueue := cmd.Flags().Changed("queue")
			switch {
			case byQueue && len(keys) > 0:
				return fmt.Errorf("give either keys or --queue, not both")
			case byQueue:
				var err error
				if keys, err = queueKeys(queue); err != nil {
					return err
				}
			case len(keys) == 0:
				return fmt.Errorf("give one or more keys, or --queue NAME")
			}
			return printSlots(cmd, keys, asJSON)
		},
	}
	cmd.Flags().StringVar(&queue, "queue", "", "show all keys of the queue called `NAME`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// queueKeys returns every key that a queue can have, those of a job with the id
// "ID" among them.
func queueKeys(name string) ([]string, error) {
	queue, err := wire.ParseQueue(name)
	if err != nil {
		return nil, err
	}
	id, err := wire.ParseJobID("ID")
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, suffix := range wire.QueueSuffixes() {
		keys = append(keys, queue.Key(suffix))
	}
	keys = append(keys, queue.Job(id))
	for _, part := range wire.JobParts() {
		keys = append(keys, queue.JobKey(id, part))
	}
	return keys, nil
}

func printSlots(cmd *cobra.Command, keys []string, asJSON bool) error {
	slots, shared := wire.Slots(keys)
	show := printSlotTable
	if asJSON {
		show = printSlotJSON
	}
	if err := show(cmd.OutOrStdout(), slots, shared); err != nil {
		return fmt.Errorf("print the slots: %w", err)
	}
	if !shared {
		return errNot
	}
	return nil
}

func printSlotTable(out io.Writer, slots []wire.KeySlot, shared bool) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SLOT\tTAG\tKEY")
	for _, slot := range slots {
		fmt.Fprintf(table, "%d\t%s\t%s\n", slot.Slot, slot.Tag, slot.Key)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	var err error
	switch {
	case !shared:
		_, err = fmt.Fprintln(out, "The keys are in different slots: no script may touch them together.")
	case len(slots) > 1:
		_, err = fmt.Fprintf(out, "All %d keys share slot %d: one script may touch them.\n", len(slots), slots[0].Slot)
	}
	return err
}

func printSlotJSON(out io.Writer, slots []wire.KeySlot, shared bool) error {
	type keySlot struct {
		Key  string `json:"key"`
		Tag  string `json:"tag"`
		Slot int    `json:"slot"`
	}
	printed := struct {
		Keys   []keySlot `json:"keys"`
		Shared bool      `json:"shared"`
	}{Shared: shared}
	for _, slot := range slots {
		printed.Keys = append(printed.Keys, keySlot(slot))
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(printed)
}
