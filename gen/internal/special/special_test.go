package special_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/gen/internal/special"
	"github.com/echomq/echomq-go/lua/header"
)

const script = `--- keep keeps jobs, and says how many.
---
--- @memory refused
--- @key meta hash settings
--- @key wait list ids
--- @key delayed zset ids by due time
--- @each job hash <id> the job
--- @each lock string <id>:lock its lock
--- @arg level word(none|all) what is told
--- @arg most int how many
--- @item id id the job's id
--- @item name string its name
--- @item delay ms how long it waits
--- @item tag string a mark; empty for none
--- @field version meta
--- @field paused meta
--- @field name job
--- @field delay job
--- @field deid job
--- @stores name job name
--- @reply kept int how many
--- @reply results records one per item
--- @record results verdict word(now|later) when
--- @error EMQARGS the call is malformed
`

const body = `
local meta = redis.call('HMGET', KEYS[1], 'version', 'paused')
if meta[1] then
  return redis.error_reply('EMQARGS is kept')
end
local count = math.floor((#KEYS - 3) / 2)
if count < 1 or #KEYS ~= 3 + 2 * count or #ARGV ~= 2 + 4 * count then
  return redis.error_reply('EMQARGS keep takes something else')
end
local level = ARGV[1]
local words = { none = true, all = true }
if not words[level] then
  return redis.error_reply('EMQARGS no such level')
end
local later = {}
local now = {}
local results = {}
local function mark(i, tag)
  return '<' .. tag .. '>' .. i
end
for i = 1, count do
  local a = 2 + 4 * (i - 1)
  local delay = 0
  if ARGV[a + 3] ~= '0' then
    delay = tonumber(ARGV[a + 3])
  end
  if ARGV[a + 4] ~= '' then
    local delay = mark(i, ARGV[a + 4])
    redis.call('HSET', KEYS[2 + 2 * i], 'deid', delay)
  end
  redis.call('HSET', KEYS[2 + 2 * i], 'name', ARGV[a + 2])
  if delay > 0 then
    redis.call('HSET', KEYS[2 + 2 * i], 'delay', delay)
    redis.call('SET', KEYS[3 + 2 * i], ARGV[2])
    later[#later + 1] = delay
    later[#later + 1] = ARGV[a + 1]
    results[i] = 'later'
  else
    now[#now + 1] = ARGV[a + 1]
    results[i] = 'now'
  end
end
if #now > 0 and (level == 'none' or #later == 0) then
  redis.call('LPUSH', KEYS[2], unpack(now))
end
if #later > 0 and meta[2] then
  redis.call('ZADD', KEYS[3], unpack(later))
end
return { #now + #later / 2, results }
`

func derive(t *testing.T, values, body string) (string, error) {
	t.Helper()
	text := script
	for line := range strings.Lines(values) {
		text += "--- @special brief " + strings.TrimSpace(line) + "\n"
	}
	text += body
	parsed, err := header.Parse("keep.lua", []byte(text))
	require.NoError(t, err)
	derived, err := special.Derive("keep.lua", []byte(text), parsed, parsed.Special("brief"))
	return string(derived), err
}

// TestDerive shows what is folded away and what the rest is numbered.
func TestDerive(t *testing.T) {
	t.Parallel()
	derived, err := derive(t, "delay=0 most\ntag= level=none|all", body)
	require.NoError(t, err)
	require.Equal(t, `--- brief is keep for calls in which delay is 0, tag is empty and level is none or
--- all.
---
--- @memory refused
--- @key meta hash settings
--- @key wait list ids
--- @each job hash <id> the job
--- @item id id the job's id
--- @item name string its name
--- @field version meta
--- @field name job
--- @stores name job name
--- @reply kept int how many
--- @reply results records one per item
--- @record results verdict word(now) when
--- @error EMQARGS the call is malformed

local meta = redis.call('HMGET', KEYS[1], 'version')
if meta[1] then
  return redis.error_reply('EMQARGS is kept')
end
local count = #KEYS - 2
if count < 1 or #ARGV ~= 2 * count then
  return redis.error_reply('EMQARGS brief takes 2 keys and no arguments, then 1 key and 2 arguments for each job')
end
local now = {}
local results = {}
for i = 1, count do
  local a = 2 * (i - 1)
  redis.call('HSET', KEYS[2 + i], 'name', ARGV[a + 2])
  now[#now + 1] = ARGV[a + 1]
  results[i] = 'now'
end
if #now > 0 then
  redis.call('LPUSH', KEYS[2], unpack(now))
end
return { #now + 0, results }
`, derived)
}

// TestDeriveOfPart leaves what was not fixed as it was.
func TestDeriveOfPart(t *testing.T) {
	t.Parallel()
	derived, err := derive(t, "tag=", body)
	require.NoError(t, err)
	_, derived, _ = strings.Cut(derived, "\n\n")
	want := strings.NewReplacer(
		"3 + 2 * count or #ARGV ~= 2 + 4 * count", "3 + 2 * count or #ARGV ~= 2 + 3 * count",
		"EMQARGS keep takes something else", "EMQARGS brief takes 3 keys and 2 arguments, then 2 keys and 3 arguments for each job",
		"local function mark(i, tag)\n  return '<' .. tag .. '>' .. i\nend\n", "",
		"2 + 4 * (i - 1)", "2 + 3 * (i - 1)",
		"  if ARGV[a + 4] ~= '' then\n    local delay = mark(i, ARGV[a + 4])\n    redis.call('HSET', KEYS[2 + 2 * i], 'deid', delay)\n  end\n", "",
	).Replace(strings.TrimPrefix(body, "\n"))
	require.Equal(t, want, derived)
}

// TestDeriveRefuses shows that nothing is derived of which it is not proven that it
// does the same.
func TestDeriveRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ values, body, want string }{
		"an argument that is looked at":  {"most", body, `"most" is still looked at`},
		"values that make a difference":  {"delay=0|1", body, "it differs with the values that are given"},
		"an element that cannot be told": {"delay=0", strings.Replace(body, "ARGV[a + 2])", "ARGV[a + i])", 1), "is no place that the header declares"},
		"an element that is not there":   {"delay=0", strings.Replace(body, "ARGV[a + 2])", "ARGV[a + 5])", 1), "is no place that the header declares"},
		"no count":                       {"delay=0", strings.ReplaceAll(body, "count", "number"), "no local count"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := derive(t, c.values, c.body)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// TestDeriveKeepsScopes shows that a block with locals that loses its condition does
// not change what the names behind it mean.
func TestDeriveKeepsScopes(t *testing.T) {
	t.Parallel()
	derived, err := derive(t, "delay=0", strings.Replace(body, "  redis.call('HSET', KEYS[2 + 2 * i], 'name'", `  local last = ARGV[1]
  if ARGV[a + 3] == '0' then
    local last = redis.call('LINDEX', KEYS[2], 0)
    redis.call('LPUSH', KEYS[2], last)
  end
  redis.call('LPUSH', KEYS[2], last)
  redis.call('HSET', KEYS[2 + 2 * i], 'name'`, 1))
	require.NoError(t, err)
	require.Contains(t, derived, `  local last = ARGV[1]
  do
    local last = redis.call('LINDEX', KEYS[2], 0)
    redis.call('LPUSH', KEYS[2], last)
  end
  redis.call('LPUSH', KEYS[2], last)
`)
}
