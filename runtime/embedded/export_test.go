package embedded

// LookPath replaces the search on PATH.
func LookPath(lookPath func(name string) (string, error)) Option {
	return func(c *config) { c.lookPath = lookPath }
}
