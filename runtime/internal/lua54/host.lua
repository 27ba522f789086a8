-- The sandbox. It reads scripts from standard input and runs them, one after the
-- other; each redis.call is written to standard output and its reply read.
--
-- A value is written as a letter and what follows: s, e and o (string, error,
-- status) with a length, a line feed and the bytes; i and f (integer, float) and
-- a line feed; t, b and n (true, false, nil); a (array) with a length and the
-- elements.

local input, output = io.stdin, io.stdout
local getinfo, loads = debug.getinfo, load
local chunk = '@user_script'

-- Reading nothing would wait for what comes next.
local function bytes(size)
  if size == '0' then
    return ''
  end
  return input:read(tonumber(size))
end

local function read()
  local kind = input:read(1)
  if not kind then
    os.exit(0)
  end
  local line = input:read('l')
  if kind == 's' then
    return bytes(line)
  elseif kind == 'e' then
    return { err = bytes(line) }
  elseif kind == 'o' then
    return { ok = bytes(line) }
  elseif kind == 'i' then
    return math.tointeger(line)
  elseif kind == 'f' then
    return tonumber(line) + 0.0
  elseif kind == 'b' then
    return false
  elseif kind == 'a' then
    local list = {}
    for i = 1, tonumber(line) do
      list[i] = read()
    end
    return list
  end
  error('the bridge sent ' .. kind)
end

local function text(kind, value)
  output:write(kind, #value, '\n', value)
end

-- What a script returns: numbers keep their kind, and an array goes on after a
-- hole.
local function write(value)
  local kind = math.type(value) or type(value)
  if kind == 'string' then
    text('s', value)
  elseif kind == 'integer' then
    output:write('i', value, '\n')
  elseif kind == 'float' then
    output:write('f', string.format('%.17g', value), '\n')
  elseif kind == 'boolean' then
    output:write(value and 't\n' or 'b\n')
  elseif kind ~= 'table' then
    output:write('n\n')
  elseif type(value.err) == 'string' then
    text('e', value.err)
  elseif type(value.ok) == 'string' then
    text('o', value.ok)
  else
    local last = 0
    for index in pairs(value) do
      if math.type(index) == 'integer' and index > last then
        last = index
      end
    end
    output:write('a', last, '\n')
    for i = 1, last do
      write(value[i])
    end
  end
end

-- Where a call of redis.call stands, in the script's lines.
local function site()
  for level = 3, 8 do
    local info = getinfo(level, 'Sl')
    if info and info.source == chunk then
      return info.currentline - 1
    end
  end
  return 0
end

local function send(arguments)
  local list = {}
  for i = 1, arguments.n do
    local value = arguments[i]
    local kind = math.type(value) or type(value)
    if kind == 'integer' then
      list[i] = string.format('%d', value)
    elseif kind == 'float' then
      list[i] = string.format('%.17g', value)
    elseif kind == 'string' then
      list[i] = value
    else
      return { err = 'ERR Lua redis lib command arguments must be strings or integers' }
    end
  end
  output:write('c', site(), '\n')
  write(list)
  output:flush()
  return read()
end

local redis = {
  call = function(...)
    local reply = send(table.pack(...))
    if type(reply) == 'table' and reply.err then
      error(reply.err, 0)
    end
    return reply
  end,
  pcall = function(...)
    local reply = send(table.pack(...))
    if type(reply) == 'table' and reply.err then
      return { err = '-' .. reply.err }
    end
    return reply
  end,
  error_reply = function(message) return { err = message } end,
  status_reply = function(message) return { ok = message } end,
}

local function copy(from, names)
  local to = {}
  for name in string.gmatch(names, '%S+') do
    to[name] = from[name]
  end
  return to
end

local function sandbox(keys, arguments)
  local globals = copy(_G, 'assert error getmetatable ipairs next pairs pcall rawequal rawget rawlen rawset select setmetatable tonumber tostring type xpcall')
  globals.string = copy(string, 'byte char find format gmatch gsub len lower match rep reverse sub upper pack packsize unpack')
  globals.table = copy(table, 'concat insert move pack remove sort unpack')
  globals.math = copy(math, 'abs ceil cos deg exp floor fmod huge log max maxinteger min mininteger modf pi rad sin sqrt tan tointeger type ult')
  globals.unpack = table.unpack
  globals.redis = redis
  globals.KEYS = keys
  globals.ARGV = arguments
  globals._G = globals
  return setmetatable(globals, {
    __index = function(_, name) error('the script reads the global variable ' .. tostring(name), 2) end,
    __newindex = function(_, name) error('the script sets the global variable ' .. tostring(name), 2) end,
  })
end

while true do
  local source, keys, arguments = read(), read(), read()
  -- Dragonfly wraps the body in a function.
  local wrapped, problem = loads('return function()\n' .. source .. '\nend', chunk, 't', sandbox(keys, arguments))
  local ok, result = wrapped ~= nil, problem
  if ok then
    ok, result = pcall(wrapped())
  end
  output:write(ok and 'd\n' or 'x\n')
  if ok then
    write(result)
  else
    write(tostring(result))
  end
  output:flush()
end
