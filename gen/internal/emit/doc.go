// Package emit writes the generated file of a package from its intermediate
// representation. The same representation always gives the same bytes, and
// gofmt and goimports leave them as they are.
package emit
