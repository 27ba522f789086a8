// Package build turns the directives of a package, and the types that they
// mention, into the intermediate representation, and reports what keeps them
// from crossing the wire.
package build
