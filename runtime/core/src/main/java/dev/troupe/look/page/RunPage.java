package dev.troupe.look.page;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.look.output.ProcessMemory;
import dev.troupe.look.output.RunFile;
import dev.troupe.look.output.StepHead;
import dev.troupe.look.output.StepJson;
import dev.troupe.plan.UsageException;
import dev.troupe.plan.directory.RunDirectory;
import dev.troupe.plan.prepare.PreparedRun;
import dev.troupe.run.http.Answer;
import dev.troupe.run.http.PageServer;
import dev.troupe.run.http.Routes;
import dev.troupe.tokenizer.file.BoundedFile;
import dev.troupe.tokenizer.file.FileReason;
import dev.troupe.tokenizer.file.JsonDefect;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * The facts of a run, read from its directory, as JSON over HTTP; {@code docs/schema} has a schema of each answer. The
 * answers are the same during a run and after it, since a run writes its files within seconds. It is read-only. Thread rule:
 * any thread.
 */
public final class RunPage {
    public static final String EVENTS = "/troupe/v1/events";

    private static final int MOST_STEPS = 2_000;
    private static final long LOOK_EVERY_NANOS = 50_000_000;
    private static final JsonMapper JSON = new JsonMapper();

    private final Path directory;
    private final Optional<RunPage> other;
    private final RunHistory history;
    private final StepFiles files;
    private final EdgeTimes edges = new EdgeTimes();
    private final RunState state;
    // Null after a read of the files, until the next request.
    private ObjectNode present;
    private long lookedNanos;
    /** The last drawing of a step: all readers of the page request the same one. */
    private Answer drawing;
    private StepHead drawn;

    /**
     * Creates the page of a run.
     *
     * @param directory the directory of the run; it may not exist yet
     */
    public RunPage(Path directory) {
        this(directory, Optional.empty());
    }

    /**
     * Creates the page of a run.
     *
     * @param directory the directory of the run; it may not exist yet
     */
    public RunPage(Path directory, Optional<Path> other) {
        this.other = other.map(RunPage::new);
        this.directory = directory;
        this.history = new RunHistory(directory);
        this.files = new StepFiles(directory);
        this.state = new RunState(history, files);
        this.lookedNanos = System.nanoTime() - LOOK_EVERY_NANOS;
    }

    /**
     * Serves the page of a run of this process at {@code observe.port}; empty if none is configured.
     *
     * @param more adds this process's routes to the run's routes
     * @throws UsageException if the port is taken
     */
    public static Optional<PageServer> serve(PreparedRun run, UnaryOperator<Routes> more) {
        int port = run.spec().observe().port();
        return port == 0
                ? Optional.empty()
                : Optional.of(PageServer.open(port, "observe.port",
                        more.apply(new RunPage(run.request().output()).routes())));
    }

    /** Returns the paths with the page's own files. */
    public Routes routes() {
        return PageFiles.with(Routes.none()).with("/troupe/v1/whatif", this::whatIf)
                .with("/troupe/v1/compare", _ -> compare())
                .with("/troupe/v1/run", _ -> run()).with("/troupe/v1/steps", this::steps)
                .with("/troupe/v1/steps/", this::step).with("/troupe/v1/memory", _ -> memory())
                .with("/troupe/v1/edges", _ -> edges()).with("/troupe/v1/stack", this::stack)
                .withEvents(EVENTS, () -> tail()::next);
    }

    /** Returns a tail with the newest events of the run, and all from now on. */
    public EventTail tail() {
        return new EventTail(this);
    }

    private void look() {
        if (System.nanoTime() - lookedNanos >= LOOK_EVERY_NANOS) {
            history.look();
            files.look();
            present = null;
            lookedNanos = System.nanoTime();
        }
    }

    private static ObjectNode object() {
        return JSON.createObjectNode().put("schema", StepJson.SCHEMA);
    }

    private synchronized Answer run() {
        look();
        return fromFile(RunFile.FILE, run -> Answer.json(run.set("now", now())));
    }

    /** Returns the state of the run. All listeners share it between two reads of the files, so it must not be changed. */
    synchronized ObjectNode now() {
        look();
        if (present == null) {
            present = state.now(!hasBegun() || RunDirectory.isHeld(directory), System.currentTimeMillis());
        }
        return present;
    }

    private synchronized Answer steps(Routes.Question question) {
        look();
        OptionalLong after = question.number("after");
        if (after.isEmpty() && !question.text("after", "").isEmpty()) {
            return Answer.wrong("after is the number of a step, but is " + question.text("after", ""));
        }
        List<ObjectNode> wanted = new ArrayList<>(history.steps());
        if (after.isPresent()) {
            wanted.removeIf(step -> step.path("step").asLong() <= after.getAsLong());
        }
        boolean hasMore = wanted.size() > MOST_STEPS;
        // After a given step the earliest ones, so that a reader gets all in order; otherwise the newest.
        List<ObjectNode> chosen = !hasMore
                ? wanted
                : after.isPresent()
                        ? wanted.subList(0, MOST_STEPS)
                        : wanted.subList(wanted.size() - MOST_STEPS, wanted.size());
        ObjectNode answer = object().put("has_more", hasMore && after.isPresent());
        ArrayNode steps = answer.putArray("steps");
        chosen.forEach(step -> steps.add(line(step)));
        ArrayNode validations = answer.putArray("validations");
        history.validations()
                .forEach(line -> validations.addObject().put("steps_done", line.path("steps_done").asLong())
                        .set("loss", line.path("validation_loss")));
        return Answer.json(answer);
    }

    /** Returns the line of a step: its metrics, and the summary of its file. */
    private ObjectNode line(ObjectNode metrics) {
        long number = metrics.path("step").asLong();
        ObjectNode line = JSON.createObjectNode().put("step", number);
        for (String field : List.of("loss", "gradient_norm", "learning_rate", "tokens", "tokens_per_second",
                "bytes_sent", "skipped", "time_ms")) {
            line.set(field, metrics.path(field));
        }
        for (String field : List.of("auxiliary_loss", "router_z_loss", "expert_entropy", "expert_highest_load",
                "expert_idle", "expert_dropped")) {
            if (metrics.has(field)) {
                line.set(field, metrics.path(field));
            }
        }
        line.set("seconds", metrics.path("step_seconds"));
        StepHead head = files.head(number);
        ArrayNode tags = line.put("traced", head != null).putArray("tags");
        if (head != null) {
            head.tags().forEach(tags::add);
            line.put("ns", head.nanos()).put("planned_ns", head.plannedNanos());
        }
        return line;
    }

    private synchronized Answer step(Routes.Question question) {
        look();
        if (question.restAsNumber().isEmpty()) {
            return Answer
                    .wrong("/troupe/v1/steps/ is followed by the number of a step, but is by " + question.rest());
        }
        long number = question.restAsNumber().getAsLong();
        return switch (question.text("form", "")) {
            case "" -> whole(number);
            case "drawing" -> drawing(number);
            case "messages" -> files.read(number, "messages")
                    .map(messages -> Answer.json(object().put("step", number).set("messages", messages)))
                    .orElseGet(() -> whole(number));
            default -> Answer.wrong("form is drawing or messages, but is " + question.text("form", ""));
        };
    }

    private Answer whole(long number) {
        return files.answer(number, history.lastStep().map(last -> last.path("step").asLong() + 1).orElse(0L));
    }

    private Answer drawing(long number) {
        StepHead head = files.head(number);
        if (head != null && head == drawn) {
            return drawing;
        }
        Answer answer = whole(number);
        if (answer.status() != Answer.OK) {
            return answer;
        }
        try {
            drawing = new Answer(Answer.OK, Answer.JSON, StepDrawing.of(answer.body()));
            drawn = head;
            return drawing;
        } catch (JsonProcessingException malformed) {
            return Answer.unreadable("the file of step " + number + " is no JSON: " + JsonDefect.of(malformed));
        } catch (IOException unreadable) {
            return Answer.unreadable("the file of step " + number + " cannot be read: " + FileReason.of(unreadable));
        }
    }

    private synchronized Answer memory() {
        return fromFile(RunFile.FILE, run -> {
            ObjectNode answer = object();
            answer.set("ranks", run.path("memory"));
            answer.set("peak_activations", run.path("certificate").path("peak_activations"));
            object(ProcessMemory.FILE).ifPresent(process -> answer.set("process", process));
            return Answer.json(answer);
        });
    }

    private synchronized Answer edges() {
        look();
        return fromFile(RunFile.FILE, run -> {
            ObjectNode answer = object();
            ArrayNode all = edges.of(files);
            answer.put("steps", edges.stepCount()).set("message_bytes", run.path("message_bytes"));
            return Answer.json(answer.set("edges", all));
        });
    }

    private synchronized Answer whatIf(Routes.Question question) {
        look();
        Optional<JsonNode> newest = files.newest().flatMap(head -> files.read(head.number(), "costs"));
        return newest.isEmpty()
                ? Answer.notYet("no step has a file yet, so that nothing is known of what actions take")
                : fromFile(RunFile.FILE, run -> new WhatIf(run, newest.get()).answer(question, object()));
    }

    private Answer compare() {
        if (other.isEmpty()) {
            return Answer.absent("There is one run here: troupe page RUN OTHER compares two.");
        }
        List<ObjectNode> theirs = other.get().allSteps();
        synchronized (this) {
            look();
            return fromFile(RunFile.FILE, one -> other.get().fromFile(RunFile.FILE,
                    two -> new TwoRuns(directory, history.steps(), other.get().directory, theirs)
                            .answer(object(), one, two)));
        }
    }

    private synchronized List<ObjectNode> allSteps() {
        look();
        return List.copyOf(history.steps());
    }

    /** Returns the part of the last hang's drawing that is about one rank. */
    private synchronized Answer stack(Routes.Question question) {
        OptionalLong rank = question.number("rank");
        if (rank.isEmpty()) {
            return Answer.wrong("ask for the stack of a rank: /troupe/v1/stack?rank=2");
        }
        Optional<Path> newest = newestHang();
        if (newest.isEmpty()) {
            return Answer.absent("no rank of this run has hung: there is no hang-step-*.txt in " + directory);
        }
        try {
            BoundedFile.requireRegular(newest.get());
            List<String> lines = Files.readAllLines(newest.get());
            ObjectNode answer = object().put("rank", rank.getAsLong())
                    .put("file", newest.get().getFileName().toString()).put("sentence", lines.getFirst());
            ArrayNode calls = answer.putArray("stack");
            int begin = lines.indexOf("the thread of rank " + rank.getAsLong() + " is at");
            lines.stream().filter(line -> line.startsWith("rank " + rank.getAsLong() + " is ")).findFirst()
                    .ifPresent(line -> answer.put("situation", line));
            for (int at = begin + 1; begin >= 0 && at < lines.size() && !lines.get(at).isEmpty(); at++) {
                calls.add(lines.get(at).strip());
            }
            return Answer.json(answer);
        } catch (IOException unreadable) {
            return Answer.unreadable(newest.get() + " cannot be read: " + FileReason.of(unreadable));
        }
    }

    private Optional<Path> newestHang() {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.filter(file -> file.getFileName().toString().matches("hang-step-\\d+-epoch-\\d+\\.txt"))
                    .max(Comparator.comparing(file -> file.toFile().lastModified()));
        } catch (IOException | UncheckedIOException _) {
            return Optional.empty();
        }
    }

    private interface Use {
        Answer of(ObjectNode object);
    }

    private boolean hasBegun() {
        return Files.exists(directory.resolve(RunDirectory.CONFIG));
    }

    private Answer fromFile(String name, Use use) {
        // Checked first, since a run that begins meanwhile writes its configuration after its other files.
        boolean hasBegun = hasBegun();
        try {
            BoundedFile.requireRegular(directory.resolve(name));
            JsonNode object = JSON.readTree(directory.resolve(name).toFile());
            int schema = object.path("schema").asInt();
            return schema == StepJson.SCHEMA && object instanceof ObjectNode found
                    ? use.of(found)
                    : Answer.unreadable(directory.resolve(name) + " is of version " + schema
                            + ", and this Troupe reads version " + StepJson.SCHEMA
                            + ": serve the page with the Troupe that trained");
        } catch (JsonProcessingException malformed) {
            return Answer.unreadable(directory.resolve(name) + " is no JSON: " + JsonDefect.of(malformed));
        } catch (NoSuchFileException absent) {
            return hasBegun
                    ? Answer.absent("the run in " + directory + " has no " + name + ": an older Troupe trained it")
                    : Answer.notYet("the run has not begun: there is no " + name + " in " + directory + " yet");
        } catch (IOException unreadable) {
            return Answer.unreadable(directory.resolve(name) + " cannot be read: " + FileReason.of(unreadable));
        }
    }

    private Optional<JsonNode> object(String name) {
        try {
            BoundedFile.requireRegular(directory.resolve(name));
            return Optional.of(JSON.readTree(directory.resolve(name).toFile()));
        } catch (IOException _) {
            return Optional.empty(); // not written yet
        }
    }

    synchronized List<ObjectNode> stepsAfter(long number, int most) {
        look();
        Deque<ObjectNode> after = new ArrayDeque<>();
        for (var newest = history.steps().descendingIterator(); newest.hasNext() && after.size() < most;) {
            ObjectNode step = newest.next();
            if (step.path("step").asLong() <= number) {
                break;
            }
            after.addFirst(line(step));
        }
        return List.copyOf(after);
    }

    synchronized List<ObjectNode> eventsFrom(long id, int most) {
        look();
        List<ObjectNode> from = history.events().stream().filter(event -> event.path("id").asLong() >= id).toList();
        return from.subList(Math.max(0, from.size() - most), from.size());
    }
}
