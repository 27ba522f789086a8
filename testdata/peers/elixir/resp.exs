# Part of the test peer in peer.exs: a client of Redis and Valkey.

defmodule Resp do
  # A client with one connection for each server: one command at a time. Of a
  # cluster it knows what it was told with MOVED, and asks again where it is refused
  # for a while.

  @patience 10_000

  # Connects to the store, and returns how to connect to its servers.
  def open(address) do
    uri = URI.parse(address)
    {host, port, db} = place(uri)
    store = %{seed: {host, port}, credentials: credentials(uri.userinfo), db: db}
    socket(store, store.seed)
    store
  end

  # The servers that take writes: all primaries of a cluster.
  def servers(store) do
    case ask(socket(store, store.seed), ["CLUSTER", "SLOTS"]) do
      {:error, _} -> [store.seed]
      slots -> slots |> Enum.map(fn [_from, _to, [host, port | _] | _] -> {to_charlist(host), port} end) |> Enum.uniq()
    end
  end

  # Sends a command about a queue to the server that has it.
  def command(store, queue, args), do: command(store, queue, args, now() + @patience)

  defp command(store, queue, args, deadline) do
    server = Process.get({:server, queue}, store.seed)

    case ask(socket(store, server), args) do
      {:error, "MOVED " <> where} ->
        Process.put({:server, queue}, target(where, server))
        again(store, queue, args, deadline, where, 0)

      {:error, "ASK " <> where} ->
        other = socket(store, target(where, server))
        "OK" = ask(other, ["ASKING"])
        result(ask(other, args), store, queue, args, deadline)

      answer ->
        result(answer, store, queue, args, deadline)
    end
  end

  # What is refused while a slot is on its way was not executed.
  defp result({:error, "TRYAGAIN" <> _ = text}, store, queue, args, deadline), do: again(store, queue, args, deadline, text, 20)
  defp result({:error, "CLUSTERDOWN" <> _ = text}, store, queue, args, deadline), do: again(store, queue, args, deadline, text, 100)
  defp result({:error, "NOSCRIPT" <> _} = missing, _store, _queue, _args, _deadline), do: missing
  defp result({:error, text}, _store, _queue, _args, _deadline), do: raise(text)
  defp result(value, _store, _queue, _args, _deadline), do: value

  defp again(store, queue, args, deadline, why, pause) do
    if now() > deadline, do: raise(why)
    Process.sleep(pause)
    command(store, queue, args, deadline)
  end

  # "105 127.0.0.1:7001"; an empty host is that of the server that says so.
  defp target(where, {host, _port}) do
    [_slot, address] = String.split(where, " ")
    [name, port] = address |> String.reverse() |> String.split(":", parts: 2) |> Enum.map(&String.reverse/1) |> Enum.reverse()
    {if(name == "", do: host, else: to_charlist(name)), String.to_integer(port)}
  end

  # Sends a command to one server, whatever it answers.
  def call(store, server, args), do: result(ask(socket(store, server), args), store, nil, args, 0)

  defp socket(store, server) do
    Process.get({:socket, server}) || connect(store, server)
  end

  defp connect(store, {host, port} = server) do
    {:ok, socket} = :gen_tcp.connect(host, port, [:binary, active: false, packet: :line], 5000)
    [user, password] = store.credentials
    if password, do: "OK" = ask(socket, if(user == "", do: ["AUTH", password], else: ["AUTH", user, password]))
    if store.db not in ["", "0"], do: "OK" = ask(socket, ["SELECT", store.db])
    Process.put({:socket, server}, socket)
    socket
  end

  defp place(%URI{scheme: "redis"} = uri) do
    {String.to_charlist(uri.host), uri.port || 6379, String.trim_leading(uri.path || "", "/")}
  end

  defp place(%URI{scheme: "unix"} = uri) do
    {{:local, URI.decode(uri.path)}, 0, Map.get(URI.decode_query(uri.query || ""), "db", "")}
  end

  defp place(uri), do: raise("this test peer knows redis:// and unix://, not #{uri.scheme}://")

  defp credentials(nil), do: ["", nil]

  defp credentials(info) do
    case String.split(info, ":", parts: 2) do
      [user, password] -> [URI.decode(user), URI.decode(password)]
      [_user] -> ["", nil]
    end
  end

  defp ask(socket, args) do
    parts = for arg <- args, do: ["$", to_string(byte_size(arg)), "\r\n", arg, "\r\n"]
    :ok = :gen_tcp.send(socket, ["*", to_string(length(args)), "\r\n" | parts])
    reply(socket)
  end

  defp reply(socket) do
    {:ok, line} = :gen_tcp.recv(socket, 0)
    <<kind, rest::binary>> = String.trim_trailing(line, "\r\n")

    case kind do
      ?+ -> rest
      ?- -> {:error, rest}
      ?: -> String.to_integer(rest)
      ?$ -> bulk(socket, String.to_integer(rest))
      ?* -> array(socket, String.to_integer(rest))
    end
  end

  defp bulk(_socket, -1), do: nil

  defp bulk(socket, size) do
    :ok = :inet.setopts(socket, packet: :raw)
    {:ok, <<body::binary-size(size), "\r\n">>} = :gen_tcp.recv(socket, size + 2)
    :ok = :inet.setopts(socket, packet: :line)
    body
  end

  defp array(_socket, -1), do: nil
  defp array(_socket, 0), do: []
  defp array(socket, count), do: for(_ <- 1..count, do: reply(socket))

  defp now, do: System.monotonic_time(:millisecond)
end
