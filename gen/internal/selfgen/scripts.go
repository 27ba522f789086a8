package main

// generateScripts writes the embedded scripts of package lua.
func generateScripts(scripts []script) ([]byte, error) {
	f := newFile("lua/*.lua", "lua")
	f.line(`import _ "embed"`)
	for _, s := range scripts {
		f.line("")
		f.line("//go:embed %s.lua", s.Name)
		f.line("var %sSource string", lowerName(s.Name))
	}
	f.line("")
	f.line("// scripts are all scripts, in the order of the names.")
	f.line("var scripts = [...]Script{")
	for _, s := range scripts {
		f.line("newScript(%q, %q, %sSource),", s.Name, s.of, lowerName(s.Name))
	}
	f.line("}")
	for i, s := range scripts {
		f.line("")
		f.line("// %s returns %s.lua.", upperName(s.Name), s.Name)
		f.line("func %s() Script { return scripts[%d] }", upperName(s.Name), i)
	}
	return f.source()
}
