// Package lang writes what programs in other languages need to know of the jobs of
// a package: types and producers, and documents. Each of its writers is a function
// of the intermediate representation.
package lang
