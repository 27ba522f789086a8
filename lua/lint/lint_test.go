package lint_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/echomq/echomq-go/lua/lint"
)

// sample is a script that is proven; faults are planted in place of "-- HERE".
const sample = `--- sample is a script that faults are planted in.
---
--- @memory drains
--- @key meta hash the queue's version
--- @key wait list ids
--- @key delayed zset ids
--- @key reserved hash ids to tokens
--- @each job hash <id> the job
--- @each lock string <id>:lock the token
--- @arg lease ms how long
--- @item id id the job's id
--- @item token string the token
--- @field version meta
--- @field name job
--- @field * reserved
--- @reply now ms the clock
--- @reply results records one per item
--- @record results verdict word(done|lost) what happened
--- @error EMQARGS the call is malformed
local version = redis.call('HGET', KEYS[1], 'version')
local count = math.floor((#KEYS - 4) / 2)
local lease = tonumber(ARGV[1])
if count < 1 or #KEYS ~= 4 + 2 * count or #ARGV ~= 1 + 2 * count or not lease then
  return redis.error_reply('EMQARGS malformed')
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local jobs = {}
local sets = {}
local ids = {}
local results = {}
for i = 1, count do
  local name = redis.call('HGET', KEYS[3 + 2 * i], 'name')
  jobs[#jobs + 1] = KEYS[3 + 2 * i]
  sets[#sets + 1] = KEYS[4 + 2 * i]
  sets[#sets + 1] = ARGV[2 * i + 1]
  ids[i] = ARGV[2 * i]
  results[i] = name and 'done' or 'lost'
end
redis.call('DEL', KEYS[2])
redis.call('MSET', unpack(sets))
-- HERE
redis.call('ZADD', KEYS[3], now + lease, ids[1])
redis.call('HSET', KEYS[4], unpack(ids))
redis.call('EXISTS', unpack(jobs))
return { now, results }
`

// hereLine is the line of the first line of what is planted.
const hereLine = 42

func check(planted string) []string {
	return checkText(strings.Replace(sample, "-- HERE", planted, 1))
}

func checkText(text string) []string {
	var found []string
	for _, finding := range lint.Check("sample.lua", []byte(text)) {
		found = append(found, finding.String())
	}
	return found
}

func TestSampleIsProven(t *testing.T) {
	t.Parallel()
	if found := check("-- HERE"); len(found) > 0 {
		t.Errorf("findings in a script that is right:\n%s", strings.Join(found, "\n"))
	}
	if line := strings.Count(sample[:strings.Index(sample, "-- HERE")], "\n") + 1; line != hereLine {
		t.Errorf("faults are planted in line %d and not %d", line, hereLine)
	}
}

func TestScriptsAreProven(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../*.lua")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, finding := range lint.Check(path, text) {
			t.Error(finding)
		}
	}
}

// plant is a fault, and the findings that it must give: each "column: rule:
// message" in the line where the fault is planted, or "line:column: …".
type plant struct {
	name, planted string
	want          []string
}

func run(t *testing.T, plants []plant) {
	t.Helper()
	for _, p := range plants {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			compare(t, check(p.planted), p.want)
		})
	}
}

func compare(t *testing.T, found, want []string) {
	t.Helper()
	if strings.Join(found, "\n") != strings.Join(want, "\n") {
		t.Errorf("found\n\t%s\nwant\n\t%s", strings.Join(found, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// TestEveryKeyOfTheScriptsIsHeld puts ARGV in place of KEYS wherever a real
// script takes a key, one at a time: none of them may pass.
func TestEveryKeyOfTheScriptsIsHeld(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../*.lua")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		pieces := strings.Split(string(text), " KEYS[")
		for i := 1; i < len(pieces); i++ {
			planted := strings.Join(pieces[:i], " KEYS[") + " ARGV[" + strings.Join(pieces[i:], " KEYS[")
			found := 0
			for _, finding := range lint.Check(path, []byte(planted)) {
				if finding.Rule == lint.RuleKey {
					found++
				}
			}
			if found == 0 {
				t.Errorf("%s: ARGV in place of the %d. KEYS is not found", path, i)
			}
		}
	}
}
