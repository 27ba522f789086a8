// Package ir is what the generator knows about annotated packages once their
// source has been read: plain data that holds no syntax and no types of the
// compiler, and that can be printed as JSON. Every emitter is a function of it.
package ir
