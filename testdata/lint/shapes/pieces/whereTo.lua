-- Chooses one of two lists. What it answers is declared if both are.
local function whereTo(settings, open, closed)
  if redis.call('HEXISTS', settings, 'shut') == 1 then
    return closed, true
  end
  return open, false
end
