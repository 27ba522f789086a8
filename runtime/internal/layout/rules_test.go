package layout_test

// rule says what a package, or every package under a path, may depend on.
// Packages are named without the module's path.
type rule struct {
	// path is the package; with "/..." at its end, whatever lies under it too.
	path string
	// ours are the packages of this module that it may import itself; "/..." as
	// for path.
	ours []string
	// theirs are the modules that it may import packages of.
	theirs []string
	// never are packages and modules that it must not reach, by whatever way;
	// "std:" marks those of the standard library.
	never []string
	// optional means that the package need not exist.
	optional bool
}

const (
	goRedis    = "github.com/redis/go-redis"
	miniredis  = "github.com/alicebob/miniredis"
	gopherLua  = "github.com/yuin/gopher-lua"
	jennifer   = "github.com/dave/jennifer"
	xTools     = "golang.org/x/tools"
	testify    = "github.com/stretchr/testify"
	goleak     = "go.uber.org/goleak"
	robfigCron = "github.com/robfig/cron"
)

// forTests are what only tests need.
var forTests = []string{testify, goleak, "std:testing"}

// notInProducts is what a program that enqueues or works must not link.
var notInProducts = append([]string{
	"gen", "annotations", "lua/lint", "lua/syntax", "lua/header", "runtime/acl", jennifer, xTools, miniredis, gopherLua, "std:os/exec",
}, forTests...)

// notInGenerators is what the generators must not link. (x/tools/imports itself
// links testing.)
var notInGenerators = []string{"runtime", "runtime/embedded", goRedis, gopherLua, miniredis, testify, goleak}

// rules are the rules of the house. The first that fits a package holds.
var rules = []rule{
	{path: "runtime/wire"},
	{path: "runtime/msgpack", never: notInProducts},
	{path: "runtime/cron", theirs: []string{robfigCron}, never: notInProducts},
	{path: "runtime",
		ours:   []string{"lua", "runtime/cron", "runtime/wire", "runtime/internal/..."},
		theirs: []string{goRedis, "github.com/google/uuid", robfigCron},
		never:  notInProducts},
	{path: "runtime/acl",
		ours:  []string{"lua", "lua/header", "lua/lint", "runtime/wire"},
		never: append([]string{"runtime", "gen", "annotations", goRedis, miniredis}, forTests...)},
	{path: "runtime/internal/script", ours: []string{"lua", "runtime/wire"}, never: notInProducts},
	{path: "runtime/internal/childserver", never: forTests},
	{path: "runtime/embedded",
		ours:   []string{"runtime/internal/childserver"},
		theirs: []string{goRedis, miniredis},
		never:  append([]string{"runtime", "gen", "annotations", "lua/lint", "lua/header"}, forTests...)},
	{path: "runtime/emqtest", ours: []string{"lua", "runtime/..."}, theirs: []string{goRedis, "github.com/google/uuid"}, optional: true},
	{path: "runtime/internal/enginetest",
		ours:   []string{"runtime/wire", "runtime/embedded", "runtime/internal/childserver", "runtime/internal/monitor"},
		theirs: []string{goRedis, goleak}},
	{path: "runtime/internal/monitor", theirs: []string{goRedis}, never: notInProducts},
	{path: "runtime/internal/lua54", never: append([]string{"runtime", goRedis}, forTests...)},
	{path: "runtime/conformance",
		ours:   []string{"lua", "lua/header", "runtime", "runtime/wire", "runtime/embedded", "runtime/internal/monitor", "runtime/internal/script"},
		theirs: []string{goRedis},
		never:  append([]string{"gen", "annotations", "lua/lint"}, forTests...)},
	{path: "runtime/fleet", ours: []string{"lua", "runtime", "runtime/wire", "runtime/internal/script"}, theirs: []string{goRedis}, never: forTests},
	{path: "runtime/internal/model", ours: []string{"runtime/wire", "runtime/internal/script"}, optional: true},
	{path: "runtime/internal/layout"},
	{path: "runtime/internal/packed", ours: []string{"runtime", "runtime/msgpack"}, never: notInProducts},

	{path: "lua", never: notInProducts},
	{path: "lua/header", ours: []string{"runtime/wire"}},
	{path: "lua/syntax", theirs: []string{gopherLua}, never: append([]string{goRedis}, forTests...)},
	{path: "lua/lint", ours: []string{"lua/header", "lua/syntax", "runtime/wire"}, theirs: []string{gopherLua}, never: append([]string{goRedis}, forTests...)},

	{path: "annotations", ours: []string{"runtime/cron", "runtime/wire"}},
	{path: "gen/vet",
		ours:   []string{"annotations", "gen", "gen/ir"},
		theirs: []string{xTools},
		never:  notInGenerators},
	{path: "gen/internal/special",
		ours:   []string{"lua/header", "lua/syntax", "runtime/wire"},
		theirs: []string{gopherLua},
		never:  append([]string{"runtime", "gen", goRedis, miniredis}, forTests...)},
	{path: "gen/internal/selfgen",
		ours:  []string{"annotations", "lua/header", "gen/internal/special", "runtime/wire"},
		never: []string{"runtime", "runtime/embedded", goRedis, miniredis, testify, goleak}},
	{path: "gen/...",
		ours:   []string{"annotations", "lua/header", "runtime/wire", "gen/..."},
		theirs: []string{jennifer, xTools, "golang.org/x/mod"},
		never:  notInGenerators},

	{path: "cmd/emqgen", ours: []string{"annotations", "gen/...", "runtime/wire"}, theirs: []string{xTools}, never: notInGenerators},
	{path: "cmd/emqvet", ours: []string{"annotations", "gen/...", "runtime/wire"}, theirs: []string{xTools}, never: notInGenerators},
	{path: "cmd/emq/...", ours: []string{"..."}, theirs: []string{goRedis, "github.com/spf13/cobra"}, never: forTests, optional: true},

	{path: "examples/...",
		ours:   []string{"runtime", "runtime/wire", "runtime/embedded", "runtime/emqtest", "examples/..."},
		theirs: []string{goRedis},
		never:  append([]string{"gen", "annotations", "lua/lint", "lua/header", jennifer, xTools}, forTests...)},
}

// onlyInTests are packages that no code outside of tests imports.
var onlyInTests = []string{
	"runtime/internal/enginetest", "runtime/internal/model", "runtime/internal/lua54", "runtime/internal/packed", "runtime/emqtest",
}

// folders are the folders at the top of the module.
var folders = []string{"annotations", "cmd", "docs", "examples", "gen", "lua", "runtime", "testdata"}
