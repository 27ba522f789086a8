local function nameOfLock(ticket)
  return ticket .. ':lock'
end
