# A test peer for `emq probe fleet`, and not a library: it exists to show that a
# runtime in another language can speak EchoMQ 2.0 from the bundle (lua/*.lua and
# lua/manifest.json) alone. Nobody should run jobs with it. It is not EchoMQ's
# Elixir reference, of which it has no line. It renews no leases, recovers no
# jobs, trims nothing and makes no first contact with a queue.
#
#   elixir --erl -noinput peer.exs BUNDLE
#
# speaks the lines of docs/peers.md on its standard input and output. (-noinput
# leaves the input to this script: Elixir's own reader takes seconds for a
# megabyte from a pipe.) It needs no packages: JSON and RESP are its own, as far
# as it needs them.

Code.require_file("json.exs", __DIR__)
Code.require_file("resp.exs", __DIR__)

defmodule Bundle do
  # The scripts and their manifest: builds every call, KEYS included, and names
  # every element of an answer.

  def load(dir) do
    manifest = Json.decode(File.read!(Path.join(dir, "manifest.json")))
    # "calling" gives each pattern up to the first comma.
    pattern = fn name -> manifest["calling"][name] |> String.split(",") |> hd() end

    %{
      protocol: manifest["protocol"],
      scripts: Map.new(manifest["scripts"], &{&1["name"], Map.put(&1, "source", File.read!(Path.join(dir, &1["file"])))}),
      fields: Map.new(manifest["job"]["fields"], &{&1["wire"], &1}),
      key: pattern.("key"),
      each: pattern.("each")
    }
  end

  # The key that a script declares under the suffix.
  def key(bundle, name, queue, suffix) do
    true = Enum.any?(bundle.scripts[name]["keys"], &(&1["suffix"] == suffix))
    fill(bundle.key, queue, "SUFFIX", suffix)
  end

  defp fill(pattern, queue, placeholder, text) do
    pattern |> String.replace("{queue}", "{" <> queue <> "}") |> String.replace(placeholder, text)
  end

  # KEYS and ARGV of a call.
  def build(bundle, name, queue, args, items) do
    script = bundle.scripts[name]
    keys = for key <- script["keys"], do: key(bundle, name, queue, key["suffix"])

    each =
      for item <- items, each <- script["each"] do
        fill(bundle.each, queue, "PATTERN", String.replace(each["pattern"], "<id>", item.id))
      end

    values = for arg <- script["args"], do: argument(name, arg, args)
    more = for item <- items, arg <- script["items"], do: argument(name, arg, item)
    {keys ++ each, values ++ more}
  end

  defp argument(script, %{"name" => name, "kind" => kind} = arg, values) do
    value = Map.get(values, String.to_atom(name))

    case kind do
      _ when is_nil(value) -> neutral(script, arg)
      kind when kind in ["int", "ms"] and is_integer(value) -> Integer.to_string(value)
      "flag" when is_boolean(value) -> if value, do: "1", else: "0"
      "word" -> if value in arg["words"], do: value, else: raise("#{script} takes no #{name} #{inspect(value)}")
      kind when kind in ["id", "string", "bytes"] and is_binary(value) -> value
      _ -> raise "#{script} needs #{name}, not #{inspect(value)}"
    end
  end

  # What stands for an argument that this peer makes no use of.
  defp neutral(_script, %{"kind" => kind}) when kind in ["int", "ms", "flag"], do: "0"
  defp neutral(_script, %{"kind" => kind}) when kind in ["string", "bytes"], do: ""
  defp neutral(_script, %{"words" => [word | _]}), do: word
  defp neutral(script, %{"name" => name}), do: raise("#{script} needs #{name}")

  # An answer with the names of its elements.
  def decode(bundle, name, reply) do
    elements = bundle.scripts[name]["reply"]
    true = length(elements) == length(reply)
    for {element, value} <- Enum.zip(elements, reply), into: %{}, do: {element["name"], element(bundle, element, value)}
  end

  defp element(bundle, %{"kind" => "records", "record" => record}, values) do
    for chunk <- Enum.chunk_every(values, length(record)) do
      for {part, value} <- Enum.zip(record, chunk), into: %{}, do: {part["name"], element(bundle, part, value)}
    end
  end

  defp element(bundle, %{"kind" => "hash"}, values), do: job(bundle, values)
  defp element(_bundle, %{"kind" => kind}, value) when kind in ["int", "ms"], do: integer(value)
  defp element(_bundle, _element, value), do: value

  # The fields of a job's hash under their long names.
  defp job(bundle, values) do
    for [wire, value] <- Enum.chunk_every(values, 2), long = bundle.fields[wire]["long"], into: %{} do
      {long, if(bundle.fields[wire]["type"] in ["int", "ms"], do: integer(value), else: value)}
    end
  end

  defp integer(value) when is_integer(value), do: value
  defp integer(value), do: String.to_integer(value)
end

defmodule Peer do
  # Answers requests. Its state: bundle, store, worker, picks, windows (what is
  # believed to come next, per queue), lost (answers thrown away by this request).

  @peer 1
  # What the protocol's page says a runtime uses where nobody says otherwise.
  @common %{events: "final", history: 10_000}
  @pick Map.merge(@common, %{lease: 15_000, window: 1, limit: 8_388_608, payload: 1_048_576})
  @max_block 2000
  @max_due 500

  def main([dir]) do
    if :init.get_argument(:noinput) == :error, do: raise("run it with elixir --erl -noinput peer.exs BUNDLE")
    :ok = :io.setopts(:standard_io, [:binary, encoding: :latin1])
    input = Port.open({:fd, 0, 1}, [:in, :binary, :eof, {:line, 65_536}])
    worker = "elixir:#{System.pid()}-#{System.os_time()}"
    serve(input, %{bundle: Bundle.load(dir), store: nil, worker: worker, picks: 0, windows: %{}, lost: 0})
  end

  defp serve(input, state) do
    with line when is_binary(line) <- read(input, []) do
      {over, state, answer} = respond(line, state)
      IO.binwrite(:stdio, [Json.encode(answer), "\n"])
      unless over, do: serve(input, state)
    end
  end

  defp read(input, parts) do
    receive do
      {^input, {:data, {:noeol, part}}} -> read(input, [part | parts])
      {^input, {:data, {:eol, part}}} -> IO.iodata_to_binary(Enum.reverse([part | parts]))
      {^input, :eof} -> nil
    end
  end

  defp respond(line, state) do
    request = Json.decode(line)
    {state, answer} = answer(request["do"], request, %{state | lost: 0})
    {request["do"] == "quit", state, Map.put(answer, :ok, true)}
  rescue
    error -> {false, state, %{ok: false, error: Exception.message(error)}}
  end

  defp answer("quit", _request, state), do: {state, %{}}

  defp answer("hello", request, state) do
    store = Resp.open(request["address"])

    scripts =
      for {name, script} <- state.bundle.scripts, server <- Resp.servers(store), into: %{} do
        sha1 = Resp.call(store, server, ["SCRIPT", "LOAD", script["source"]])
        if sha1 != script["sha1"], do: raise("#{name} has the SHA-1 #{sha1}, not that of the manifest")
        {name, sha1}
      end

    {%{state | store: store},
     %{peer: @peer, runtime: "elixir", version: System.version(), role: "test peer", protocol: state.bundle.protocol, scripts: scripts}}
  end

  defp answer(_request, _, %{store: nil}), do: raise("hello goes first")

  defp answer("enqueue", request, state) do
    item = %{
      id: request["id"], name: request["name"], data: request["payload"], version: 1,
      opts: opts(request), delay: request["delay"], priority: request["priority"]
    }

    {state, reply} = lossy(request["lose"] == "add", state, "add", request["queue"], @common, [item])
    verdict = case reply["results"] do
      [] -> "added" # as all were
      [one] -> one["verdict"]
    end

    {state, %{id: request["id"], verdict: verdict, lost: state.lost}}
  end

  defp answer("process", request, state) do
    case take(request, state, [], now() + (request["wait"] || 0)) do
      {state, nil} -> {state, %{job: nil, lost: state.lost}}
      {state, taken} -> settle(request, state, taken)
    end
  end

  defp answer("promote", request, state) do
    queue = request["queue"]
    due = call(state, "due", queue, %{limit: @max_due}, [])["due"]
    results = if due == [], do: [], else: call(state, "promote", queue, @common, Enum.map(due, &%{id: &1}))["results"]
    promoted = for {id, %{"verdict" => "promoted"}} <- Enum.zip(due, results), do: id
    left = call(state, "due", queue, %{limit: 1}, [])
    next = if left["due"] == [], do: left["nextDue"], else: left["now"]
    {state, %{promoted: promoted, now: left["now"], due: next}}
  end

  defp answer("result", request, state) do
    [found] = call(state, "inspect", request["queue"], %{}, [%{id: request["id"]}])["results"]
    {state, Map.take(found, ["state", "value", "reason", "attempts"])}
  end

  defp answer(unknown, _request, _state), do: raise("no such request: #{inspect(unknown)}")

  defp opts(request) do
    attempts = if request["attempts"], do: %{attempts: request["attempts"]}, else: %{}
    backoff = if request["backoff"], do: %{backoff: %{type: "fixed", base: request["backoff"], jitter: "none"}}, else: %{}
    opts = Map.merge(attempts, backoff)
    if opts == %{}, do: "", else: IO.iodata_to_binary(Json.encode(opts))
  end

  # Starts the next job: at once if it was declared, with a second pick if it had
  # to be reserved. While there is none it waits, promoting what is due.
  defp take(request, state, reserved, deadline) do
    queue = request["queue"]
    state = %{state | picks: state.picks + 1}
    token = "#{state.worker}:#{state.picks}"
    beliefs = for id <- Map.get(state.windows, queue, []), do: %{id: id}
    items = if reserved == [], do: Enum.take(beliefs, 1), else: reserved
    args = Map.merge(@pick, %{token: token, worker: state.worker, want: if(reserved == [], do: 1, else: 0)})
    {state, reply} = lossy(request["lose"] == "pick", state, "pick", queue, args, items, %{again: true})
    state = put_in(state.windows[queue], reply["window"])
    held = for id <- reply["reserved"], do: %{id: id, reservation: token}
    left = deadline - now()

    cond do
      reply["started"] != [] -> {state, {hd(reply["started"]), token, reply["now"]}}
      held != [] or reply["window"] != [] -> take(request, state, held, deadline)
      left <= 0 -> {state, nil}
      true -> take(request, await(request, state, reply, left), [], deadline)
    end
  end

  # Waits for the marker, or for the next due time, and promotes what is due.
  defp await(request, state, %{"due" => due, "now" => now}, _left) when due > 0 and due <= now do
    {state, _promoted} = answer("promote", request, state)
    state
  end

  defp await(request, state, %{"due" => due, "now" => now}, left) do
    queue = request["queue"]
    pause = [left, @max_block, if(due > 0, do: due - now, else: @max_block)] |> Enum.min() |> max(1)
    marker = Bundle.key(state.bundle, "pick", queue, "marker")

    case Resp.command(state.store, queue, ["BZPOPMIN", marker, Float.to_string(pause / 1000)]) do
      [_key, "~" <> _, _score] -> state
      [_key, id, _score] -> put_in(state.windows[queue], [id])
      nil -> state
    end
  end

  defp settle(request, state, {started, token, picked_at}) do
    job =
      Map.merge(%{"attemptsMade" => 0}, started["job"])
      |> Map.merge(%{"id" => started["id"], "attemptsStarted" => started["starts"], "processedOn" => picked_at})
      |> Map.put("processedBy", state.worker)

    item =
      %{attempts: job["attemptsMade"], starts: started["starts"], keep: true}
      |> Map.merge(%{id: started["id"], token: token, unknown: job["unknownCount"], priority: job["priority"]})
      |> Map.merge(judge(job, request))

    {state, %{"results" => [result]}} = lossy(request["lose"] == "settle", state, "settle", request["queue"], @common, [item])
    {state, %{job: job, outcome: result["outcome"], verdict: result["verdict"], lost: state.lost}}
  end

  # What is to become of a job: the part of the settle that depends on what was
  # asked for and on the settings that the producer gave.
  defp judge(%{"deferredFailure" => reason} = job, _request), do: failed(job, reason, decoded(job))

  defp judge(job, %{"behaviour" => behaviour} = request) do
    opts = decoded(job)
    attempts = job["attemptsMade"] + 1
    unknown = job["unknownCount"] || 0

    cond do
      job["name"] != request["name"] or Map.get(job, "codec", "") != "" or Map.get(job, "payloadVersion", 1) > 1 ->
        delay = min(1000 * Integer.pow(2, unknown), 300_000)
        %{outcome: "release", starts: job["attemptsStarted"] - 1, unknown: unknown + 1, delay: delay}

      behaviour in ["echo", "return"] ->
        value = if behaviour == "echo", do: job["data"], else: request["result"]
        %{outcome: "completed", attempts: attempts, value: value, keep: opts["keepCompleted"]["none"] != true}

      behaviour == "fail" and attempts >= (opts["attempts"] || 10) ->
        Map.put(failed(job, request["reason"], opts), :attempts, attempts)

      behaviour == "fail" ->
        wait = backoff(opts["backoff"] || %{}, attempts)
        %{outcome: "retry", attempts: attempts, value: request["reason"], trace: trace(job, request["reason"]), delay: wait}
    end
  end

  defp failed(job, reason, opts) do
    %{outcome: "failed", value: reason, trace: trace(job, reason), keep: opts["keepFailed"]["none"] != true}
  end

  defp decoded(job), do: Json.decode(Map.get(job, "opts", "{}"))
  defp trace(job, reason), do: IO.iodata_to_binary(Json.encode(Json.decode(Map.get(job, "stacktrace", "[]")) ++ [reason]))

  defp backoff(opts, attempt) do
    base = opts["base"] || 1000
    grown = if opts["type"] == "fixed", do: base, else: base * Integer.pow(2, attempt - 1)
    wait = min(grown, opts["cap"] || 3_600_000)
    if opts["jitter"] == "none", do: wait, else: :rand.uniform(wait)
  end

  # Makes a call, and if lose is set makes it again as if the answer had been lost.
  defp lossy(lose, state, name, queue, args, items, again \\ %{})
  defp lossy(false, state, name, queue, args, items, _again), do: {state, call(state, name, queue, args, items)}

  defp lossy(true, state, name, queue, args, items, again) do
    call(state, name, queue, args, items)
    {%{state | lost: state.lost + 1}, call(state, name, queue, Map.merge(args, again), items)}
  end

  defp call(state, name, queue, args, items) do
    {keys, argv} = Bundle.build(state.bundle, name, queue, args, items)
    script = state.bundle.scripts[name]
    rest = [Integer.to_string(length(keys))] ++ keys ++ argv

    reply =
      case Resp.command(state.store, queue, ["EVALSHA", script["sha1"] | rest]) do
        # Such as a server that is new in its cluster.
        {:error, "NOSCRIPT" <> _} -> Resp.command(state.store, queue, ["EVAL", script["source"] | rest])
        reply -> reply
      end

    Bundle.decode(state.bundle, name, reply)
  end

  defp now, do: System.monotonic_time(:millisecond)
end

Peer.main(System.argv())
