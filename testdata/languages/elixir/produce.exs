# Enqueues jobs by the generated producers, for the tests. It prints one JSON line:
# what was added, and what was refused.
#
#   elixir -pa ebin produce.exs ADDRESS BUNDLE QUICKSTART PACKED   with names of queues

peers = System.fetch_env!("PEERS")
Code.require_file(Path.join(peers, "resp.exs"))
Code.require_file(Path.join(peers, "json.exs"))

defmodule Produce do
  alias Jobs.{Charge, QuickstartProducer, Remind, Welcome}
  alias Packed.{Digest, Everything, EverythingAnon, EverythingEmpty, Link, Opt, Opt2, PackedProducer, Point, Point2, Rectangle}

  def main([address, bundle, quickstart, packed]) do
    store = Resp.open(address)

    call = fn args ->
      case Resp.command(store, quickstart, args) do
        {:error, reason} -> {:error, reason}
        reply -> {:ok, reply}
      end
    end

    client = Emq.client(call, bundle)
    quick = [queue: quickstart]
    all = [queue: packed]

    added =
      [
        QuickstartProducer.enqueue_welcome(client, %Welcome{person: "Ada"}, quick),
        QuickstartProducer.enqueue_charge(client, %Charge{cents: 1299}, [id: "charge-1", priority: 3] ++ quick),
        QuickstartProducer.enqueue_charge(client, %Charge{cents: 1299}, [id: "charge-1"] ++ quick),
        QuickstartProducer.enqueue_remind(client, %Remind{about: "other languages"}, quick),
        PackedProducer.enqueue_everything(client, everything(), all)
      ]
      |> Enum.map(fn {:ok, added} -> added end)

    digest = %Digest{userId: 7, day: "2026-11-30"}
    {:ok, digests} = PackedProducer.enqueue_digest_batch(client, [digest, {%{digest | note: "again"}, priority: 1}], all)

    refused =
      [
        PackedProducer.enqueue_everything(client, %{empty() | Int8: 128}, all),
        PackedProducer.enqueue_everything(client, %{empty() | baseId: 1.0}, all),
        PackedProducer.enqueue_everything(client, %{empty() | Points: [point(), %{X: 1, Y: 2}]}, all),
        PackedProducer.enqueue_everything(client, %{empty() | time: "30.11.2026"}, all),
        PackedProducer.enqueue_everything(client, %{empty() | text: <<255>>}, all),
        PackedProducer.enqueue_everything(client, %{empty() | Triple: [point()]}, all),
        QuickstartProducer.enqueue_charge(client, %Charge{cents: 1}, [id: "wait"] ++ quick),
        QuickstartProducer.enqueue_remind(client, %Remind{about: "x"}, [id: "charge-1"] ++ quick),
        QuickstartProducer.enqueue_charge(client, %Charge{cents: 1}, queue: "no queue"),
        QuickstartProducer.enqueue_charge(client, %Charge{cents: 1}, queue: quickstart <> "-x")
      ]
      |> Enum.map(fn {:error, %kind{} = error} -> "#{inspect(kind)}: #{Exception.message(error)}" end)

    keys =
      for %{"job" => job, "values" => values} <- Json.decode(System.get_env("VECTORS", "[]")) do
        Emq.unique_key(job, Enum.map(values, &part(hd(Map.to_list(&1)))))
      end

    IO.binwrite(:stdio, [Json.encode(%{added: added ++ digests, refused: refused, keys: keys}), "\n"])
  end

  defp part({"nil", true}), do: "n"
  defp part({"own", value}), do: "k" <> value
  defp part({form, value}) when form in ["int", "uint"], do: Emq.unique_value(:int, String.to_integer(value))
  defp part({"bytes", value}), do: Emq.unique_value(:bytes, Base.decode64!(value))
  defp part({form, value}), do: Emq.unique_value(String.to_existing_atom(form), value)

  defp point, do: %Point{X: 1, Y: -2}

  defp empty do
    corner = %Point2{X: 1, Y: -2}

    %Everything{
      baseId: 0, named: false, Int8: 0, Int16: 0, Int32: 0, int64: 0, Int: 0, Uint8: 0, Uint16: 0, Uint32: 0, Uint64: 0, F32: 0, Raw: nil, Wait: 0,
      Big: nil, Addrs: nil, Grid: nil, Triple: [point(), point(), point()], Points: nil, ByNumber: nil, Tags: nil, Forest: nil, Children: nil, Chain: nil,
      Anon: %EverythingAnon{A: 0, B: 0}, Opt: %Opt{set: false}, OptPoint: %Opt2{set: false}, Alias: point(),
      Foreign: %Rectangle{Min: corner, Max: corner}, Moment: "2026-11-30T12:00:00Z", Empty: %EverythingEmpty{}
    }
  end

  defp everything do
    %{
      empty()
      | baseId: 2 ** 53 + 1, note: "note", Count: 255, named: true, Int8: -128, Int16: -32768, Int32: -2_147_483_648, int64: -(2 ** 63), Int: -1,
        Uint8: 255, Uint16: 65535, Uint32: 4_294_967_295, Uint64: 2 ** 64 - 1, uint: 7, F32: 1.5, f64: -1.0e300,
        text: "Käse \0 🧀 <&>", bytes: <<0, 255>>, sum: [1, 2, 3, 4], Raw: %{"big" => 2 ** 60 + 1, "list" => [1, "x"]},
        time: "2026-11-30T12:00:00.123456789Z", maybe: ~U[1931-01-01 00:00:00.001Z], Wait: 90_000_000_000, Big: 123_456_789_012_345_678_901_234_567_890,
        addr: "2001:db8::1", Addrs: %{"10.0.0.2" => 2}, Grid: [[1, -2], nil, []], Triple: [point(), point(), %Point{X: 3, Y: 4}],
        Points: [point(), nil], byName: %{"a" => point(), "" => point()}, ByNumber: %{-5 => ["x"], 70000 => nil}, Tags: ["t", ""], Forest: [[], [[], nil]],
        Children: [empty()], Chain: %Link{Name: "1", Next: %Link{Name: "2"}}, Anon: %EverythingAnon{A: 1, B: 2}, Opt: %Opt{value: "optional", set: true},
        OptPoint: %Opt2{value: point(), set: false}, flag: true
    }
  end
end

Produce.main(System.argv())
