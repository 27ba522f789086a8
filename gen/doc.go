// Package gen turns annotated Go packages into typed producers, handlers and
// workers.
//
// It is a pipeline of pure steps: packages are loaded, their directives read,
// an intermediate representation is built and validated, and code is emitted.
// It ends in the content of files and in diagnostics; writing is the caller's.
package gen
