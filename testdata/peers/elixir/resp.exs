# Part of the test peer in peer.exs: a client of Redis and Valkey.

defmodule Resp do
  # A client for one connection: one command at a time.

  def connect(address) do
    uri = URI.parse(address)
    {host, port, db} = place(uri)
    {:ok, socket} = :gen_tcp.connect(host, port, [:binary, active: false, packet: :line], 5000)
    [user, password] = credentials(uri.userinfo)
    if password, do: "OK" = command(socket, if(user == "", do: ["AUTH", password], else: ["AUTH", user, password]))
    if db not in ["", "0"], do: "OK" = command(socket, ["SELECT", db])
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

  def command(socket, args) do
    parts = for arg <- args, do: ["$", to_string(byte_size(arg)), "\r\n", arg, "\r\n"]
    :ok = :gen_tcp.send(socket, ["*", to_string(length(args)), "\r\n" | parts])

    case reply(socket) do
      {:error, text} -> raise text
      value -> value
    end
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
end
