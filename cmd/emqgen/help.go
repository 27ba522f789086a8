package main

import (
	"fmt"
	"io"

	"github.com/echomq/echomq-go/annotations"
)

// printDirectives prints the table of directives.
func printDirectives(w io.Writer) {
	for i, spec := range annotations.Directives() {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "//%s%s, above %s\n    %s\n", annotations.Prefix, spec.Name, spec.On, spec.Doc)
		for _, item := range spec.Items {
			fmt.Fprintf(w, "\n    %s\n        %s\n", usage(item), item.Doc)
			if item.Default != "" {
				fmt.Fprintf(w, "        Default: %s.\n", item.Default)
			}
		}
	}
}

// usage shows how an item is written.
func usage(item annotations.Item) string {
	values := item.Wants()
	if item.Key == "" {
		return values
	}
	return item.Key + "=…  " + values
}
