# Part of the test peer in peer.exs: JSON, as far as it needs it.

defmodule Json do
  # Objects become maps with string keys, arrays lists, null nil.

  def decode(text) do
    {value, rest} = value(skip(text))
    if skip(rest) != "", do: raise("something follows the JSON: #{String.slice(rest, 0, 20)}")
    value
  end

  defp value(<<?{, rest::binary>>), do: members(skip(rest), %{})
  defp value(<<?[, rest::binary>>), do: elements(skip(rest), [])
  defp value(<<?", rest::binary>>), do: string(rest)
  defp value("true" <> rest), do: {true, rest}
  defp value("false" <> rest), do: {false, rest}
  defp value("null" <> rest), do: {nil, rest}

  defp value(text) do
    case Regex.run(~r/^-?\d+(\.\d+)?([eE][+-]?\d+)?/, binary_part(text, 0, min(byte_size(text), 400))) do
      [digits] -> {String.to_integer(digits), after_part(text, digits)}
      [digits | _] -> {elem(Float.parse(digits), 0), after_part(text, digits)}
      nil -> raise "no JSON: #{inspect(String.slice(text, 0, 20))}"
    end
  end

  defp after_part(text, part), do: binary_part(text, byte_size(part), byte_size(text) - byte_size(part))

  defp members("}" <> rest, map), do: {map, rest}

  defp members(<<?", rest::binary>>, map) do
    {name, rest} = string(rest)
    <<?:, rest::binary>> = skip(rest)
    {value, rest} = value(skip(rest))
    more(skip(rest), "}", Map.put(map, name, value), &members/2)
  end

  defp elements("]" <> rest, list), do: {Enum.reverse(list), rest}

  defp elements(text, list) do
    {value, rest} = value(text)
    more(skip(rest), "]", [value | list], &elements/2)
  end

  defp more("," <> rest, _close, found, next), do: next.(skip(rest), found)
  defp more(<<close::binary-size(1), _::binary>> = text, close, found, next), do: next.(text, found)

  defp skip(<<c, rest::binary>>) when c in [?\s, ?\t, ?\r, ?\n], do: skip(rest)
  defp skip(text), do: text

  defp string(text), do: string(text, text, 0, [])

  # start is what is left of the text from the last escape on, length how much of
  # it is plain.
  defp string(<<?", rest::binary>>, start, length, parts) do
    {IO.iodata_to_binary(Enum.reverse([binary_part(start, 0, length) | parts])), rest}
  end

  defp string(<<?\\, ?u, hex::binary-size(4), rest::binary>>, start, length, parts) do
    {point, rest} = surrogate(String.to_integer(hex, 16), rest)
    string(rest, rest, 0, [<<point::utf8>>, binary_part(start, 0, length) | parts])
  end

  defp string(<<?\\, c, rest::binary>>, start, length, parts) do
    plain = %{?n => "\n", ?r => "\r", ?t => "\t", ?b => "\b", ?f => "\f"}
    string(rest, rest, 0, [Map.get(plain, c, <<c>>), binary_part(start, 0, length) | parts])
  end

  defp string(<<_, rest::binary>>, start, length, parts), do: string(rest, start, length + 1, parts)

  defp surrogate(high, <<?\\, ?u, hex::binary-size(4), rest::binary>>) when high in 0xD800..0xDBFF do
    {0x10000 + (high - 0xD800) * 0x400 + String.to_integer(hex, 16) - 0xDC00, rest}
  end

  defp surrogate(point, rest), do: {point, rest}

  def encode(nil), do: "null"
  def encode(value) when is_boolean(value) or is_integer(value), do: to_string(value)
  def encode(value) when is_atom(value), do: encode(Atom.to_string(value))
  def encode(list) when is_list(list), do: ["[", Enum.intersperse(Enum.map(list, &encode/1), ","), "]"]

  def encode(%{} = map) do
    members = for {name, value} <- map, do: [encode(to_string(name)), ":", encode(value)]
    ["{", Enum.intersperse(members, ","), "}"]
  end

  def encode(text) when is_binary(text), do: [?", escape(text, text, 0, []), ?"]

  defp escape(<<c, rest::binary>>, start, length, parts) when c < 0x20 or c in [?", ?\\] do
    escaped = if c in [?", ?\\], do: <<?\\, c>>, else: "\\u00" <> Base.encode16(<<c>>)
    escape(rest, rest, 0, [escaped, binary_part(start, 0, length) | parts])
  end

  defp escape(<<_, rest::binary>>, start, length, parts), do: escape(rest, start, length + 1, parts)
  defp escape(<<>>, start, length, parts), do: Enum.reverse([binary_part(start, 0, length) | parts])
end
