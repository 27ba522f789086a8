package gen_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/echomq/echomq-go/annotations"
)

// placeCells puts the directive everywhere but in its place.
func placeCells(spec *annotations.Spec) []cell {
	line := whole(spec)
	top, job := "//emq:queue name=mail\npackage mail\n\n", "//emq:job\ntype Other struct{}\n\n"
	wrong, group := []string{"E004"}, []string{"E005"}
	if spec.On == annotations.OnPackage {
		top, group = "package mail\n\n", wrong
	}
	at := func(title, source string, codes ...string) cell {
		return cell{title: title, source: source, damaged: line, codes: codes}
	}
	cells := []cell{
		at("above an alias", top+job+line+"\ntype Welcome = struct{}\n", wrong...),
		at("above a type that is no struct", top+job+line+"\ntype Welcome []string\n", wrong...),
		at("above a group of types", top+job+line+"\ntype (\n\tWelcome struct{}\n)\n", group...),
		at("above a type in a function", top+job+"func f() {\n\t"+line+"\n\ttype Welcome struct{}\n}\n", wrong...),
		at("in the body of a function", top+job+"func f() {\n\t"+line+"\n\tprint(1)\n}\n", "E003"),
		at("above a field", top+"//emq:job\ntype Welcome struct {\n\t"+line+"\n\tUserID int64\n}\n", wrong...),
		at("behind a field", top+"//emq:job\ntype Welcome struct {\n\tUserID int64 "+line+"\n}\n", wrong...),
		at("above a function", top+job+line+"\nfunc Welcome() {}\n", wrong...),
		at("above a method", top+job+line+"\nfunc (Other) Welcome() {}\n", wrong...),
		at("above an import", top+line+"\nimport \"time\"\n\nvar _ time.Time\n", wrong...),
		at("above a constant", top+job+line+"\nconst Welcome = 1\n", wrong...),
		at("above a variable", top+job+line+"\nvar Welcome struct{}\n", wrong...),
		at("behind a type", top+job+"type Welcome struct{} "+line+"\n", "E003"),
		at("at the end of the file", top+job+line+"\n", "E003"),
		{title: "in a test file", file: "mail_test.go", source: inFile(spec, "", line), damaged: line, codes: []string{"E008"}},
		{title: "in a file for one system", file: "mail_windows.go", source: inFile(spec, "", line), damaged: line, codes: []string{"E009"}},
		{title: "in a file with a constraint", file: "more.go", source: inFile(spec, "//go:build !never\n\n", line), damaged: line, codes: []string{"E009"}},
	}
	if spec.On == annotations.OnPackage {
		cells = append(cells,
			at("with a blank line below", line+"\n\npackage mail\n\n"+job, "E003"),
			at("above a struct type", "//emq:queue name=mail\npackage mail\n\n//emq:job\n"+line+"\ntype Welcome struct{}\n", wrong...))
	} else {
		cells = append(cells,
			at("with a blank line below", top+job+line+"\n\ntype Welcome struct{}\n", "E003"),
			at("above the package clause", line+"\n"+top+"type Other struct{}\n", wrong...))
	}
	return append(cells, companyCells(spec, line)...)
}

// inFile returns a file with the directive where it belongs in other files.
func inFile(spec *annotations.Spec, constraint, line string) string {
	if spec.On == annotations.OnPackage {
		return constraint + line + "\npackage mail\n"
	}
	if spec.Name != "job" {
		line = "//emq:job\n" + line
	}
	return constraint + "package mail\n\n" + line + "\ntype Goodbye struct{}\n"
}

// companyCells leaves out what the directive needs, or writes it twice.
func companyCells(spec *annotations.Spec, line string) []cell {
	twice := cell{title: "written twice", source: host(spec, line+"\n"+line), damaged: line, codes: []string{"E006"}}
	alone := cell{title: "alone", source: "package mail\n\n" + line + "\ntype Welcome struct{}\n", damaged: line, codes: []string{"E007"}}
	switch spec.Name {
	case "queue":
		twice.codes = []string{"E031"}
		alone.source, alone.codes = line+"\npackage mail\n", []string{"E033"}
	case "retired":
		twice.codes = []string{"E093"}
		alone.source, alone.codes = line+"\npackage mail\n", []string{"E093"}
	case "job":
		alone.source, alone.codes = "package mail\n\n"+line+"\ntype Welcome struct{}\n", []string{"E034"}
	case "cron":
		twice.codes = []string{"E046"}
	}
	return []cell{twice, alone}
}

// nameCells writes the name of the directive, and what stands before it,
// wrongly.
func nameCells(spec *annotations.Spec) []cell {
	line, name := whole(spec), spec.Name
	spelled := func(title, spelling string, codes ...string) cell {
		damaged := strings.Replace(line, "//emq:"+name, spelling, 1)
		return cell{title: title, source: host(spec, damaged), damaged: damaged, column: 1, codes: codes}
	}
	return []cell{
		spelled("with a space before the tool", "// emq:"+name, "E001"),
		spelled("with a space before the colon", "//emq :"+name, "E001"),
		spelled("with a space before the name", "//emq: "+name, "E001"),
		spelled("with a tool in upper case", "//EMQ:"+name, "E001"),
		spelled("with a name in upper case", "//emq:"+strings.ToUpper(name), "E001", "E002"),
		spelled("with a dot for the colon", "//emq."+name, "E001"),
		spelled("without a letter", "//emq:"+without(name), "E002"),
		spelled("with two letters exchanged", "//emq:"+exchanged(name), "E002"),
		spelled("with a letter too many", "//emq:"+name+"s", "E002"),
		spelled("with a bracket behind the name", "//emq:"+name+"(", "E002"),
		spelled("with a comma behind the name", "//emq:"+name+",", "E002"),
	}
}

// without returns name without a letter in its middle.
func without(name string) string { return name[:len(name)/2] + name[len(name)/2+1:] }

// exchanged returns name with two neighbours exchanged, as far right as they
// differ.
func exchanged(name string) string {
	last := len(name) - 1
	for name[last] == name[last-1] {
		last--
	}
	return name[:last-1] + name[last:last+1] + name[last-1:last] + name[last+1:]
}

// lineCells writes what is an item of no directive, or of another one.
func lineCells(spec *annotations.Spec) []cell {
	base := whole(spec)
	cells := []cell{
		added(spec, "nothing of it", base, "xyz=1", "E011"),
		added(spec, "a value without a key", base, "30s", "E011", "E012"),
		added(spec, "a value without a key, quoted", base, `"two words"`, "E011", "E012"),
		added(spec, "only an equal sign", base, "=", "E010"),
		added(spec, "a value behind an equal sign", base, "=1", "E010"),
		{title: "only a comma", source: host(spec, base+" ,"), damaged: base + " ,", column: len(base) + 1, codes: []string{"E010"}},
		added(spec, "only a quote", base, `"`, "E010"),
	}
	for _, other := range annotations.Directives() {
		if other.Name != spec.Name && spec.Item(other.Name) == nil {
			cells = append(cells, added(spec, "the name of directive "+other.Name+" as a key", base, other.Name+"=1", "E011"))
		}
		for i := range other.Items {
			item := &other.Items[i]
			title := fmt.Sprintf("item %s of directive %s", item.Key, other.Name)
			if item.Key != "" && spec.Item(item.Key) == nil {
				cells = append(cells, added(spec, title, base, written(item), "E011"))
			}
		}
	}
	if !spec.Bare {
		name := "//" + annotations.Prefix + spec.Name
		cells = append(cells, cell{title: "without items", source: host(spec, name), damaged: name, column: 1, codes: []string{"E013", "E014", "E045"}})
	}
	return cells
}

// added returns the cell of a line to whose end something is added.
func added(spec *annotations.Spec, title, base, wrong string, codes ...string) cell {
	line := base + " " + wrong
	return cell{title: title, source: host(spec, line), damaged: line, column: len(base) + 2, codes: codes}
}

// itemCells writes one item in every way in which it is wrong, and once right.
func itemCells(spec *annotations.Spec, item *annotations.Item) []cell {
	base, key, value := lineWithout(spec, item), item.Key, sample(item)
	title := func(text string) string {
		if key == "" {
			return "the value: " + text
		}
		return key + ": " + text
	}
	set := func(text, value string, codes ...string) cell {
		written := key + "=" + value
		if key == "" {
			written = value
		}
		return added(spec, title(text), base, written, codes...)
	}
	cells := []cell{set("right", value), set("twice", value+" "+written(item), "E012")}
	if item.Required {
		cells = append(cells, cell{title: title("missing"), source: host(spec, base), damaged: base, column: 1, codes: []string{"E013"}})
	}
	if key != "" {
		cells = append(cells,
			added(spec, title("no value"), base, key, "E010"),
			set("nothing behind =", "", "E010"),
			set("space behind =", " "+value, "E010"),
			added(spec, title("space before ="), base, key+" ="+value, "E010"),
			added(spec, title("space around ="), base, key+" = "+value, "E010"),
			added(spec, title("colon for ="), base, key+":"+value, "E010"),
			added(spec, title("key in upper case"), base, strings.ToUpper(key)+"="+value, "E011"),
			added(spec, title("key with two letters exchanged"), base, exchanged(key)+"="+value, "E011"),
			added(spec, title("key with a letter too many"), base, key+"s="+value, "E011"),
		)
		if len(key) > 2 {
			cells = append(cells, added(spec, title("key without a letter"), base, without(key)+"="+value, "E011"))
		}
	}
	cells = append(cells,
		set("empty string", `""`, valueCodes(item)...),
		set("comma at the end", value+",", "E010"),
		set("comma at the beginning", ","+value, "E010"),
		set("space behind the comma", "a, b", "E010"),
		set("quote that is not closed", `"`+strings.Trim(value, `"`), "E010"),
		set("quote inside", "a"+`"b"`, "E010"),
		set("text behind a quote", `"a"b`, "E010"),
		set("too many values", strings.Repeat("a,", max(1, item.List))+"a", "E015"),
	)
	if !item.None && !slices.Contains(item.Words, "none") {
		cells = append(cells, set("none", "none", noneCodes(item)...))
	}
	for _, wrong := range wrongValues(item) {
		cells = append(cells, set(wrong.title, wrong.value, wrong.codes...))
	}
	return cells
}
