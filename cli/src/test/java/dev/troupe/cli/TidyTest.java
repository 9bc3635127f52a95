package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The rules of the house that a program can hold, over every source of every module. */
@Tag("plan")
class TidyTest {
    private static final Path ROOT = SourceTree.ROOT;
    private static final Map<Path, String> TEXTS = SourceTree.TEXTS;
    private static final int WIDEST_COMMENT = 125;
    /** The imports that each folder of sources may have in addition to the JDK: of the house, and of libraries. */
    private static final Map<String, List<String>> ARROWS = Map.ofEntries(
            Map.entry("schedules", List.of("dev.troupe.schedule")),
            Map.entry("engines/api", List.of("dev.troupe.engine")),
            Map.entry("engines/reference", List.of("dev.troupe.engine")),
            Map.entry("engines/emulated", List.of("dev.troupe.engine")),
            Map.entry("engines/conformance", List.of("dev.troupe.engine", "org.junit", "org.opentest4j")),
            Map.entry("engines/nd4j", List.of("dev.troupe.engine", "org.nd4j", "org.bytedeco")),
            Map.entry("engines/cpu", List.of("dev.troupe.engine", "org.bytedeco")),
            Map.entry("engines/cuda", List.of("dev.troupe.engine")),
            Map.entry("stages/tokenizers",
                    List.of("dev.troupe.tokenizer", "com.fasterxml.jackson", "com.knuddels.jtokkit")),
            Map.entry("stages/chat",
                    List.of("dev.troupe.chat", "dev.troupe.tokenizer", "com.fasterxml.jackson")),
            Map.entry("stages/models",
                    List.of("dev.troupe.tokenizer", "dev.troupe.chat", "dev.troupe.engine", "dev.troupe.parallel",
                            "dev.troupe.layer", "dev.troupe.model", "dev.troupe.weights", "dev.troupe.data",
                            "dev.troupe.batch",
                            "dev.troupe.rows", "com.fasterxml.jackson", "dev.hardwood")),
            Map.entry("stages/compute",
                    List.of("dev.troupe.batch", "dev.troupe.engine", "dev.troupe.parallel", "dev.troupe.layer",
                            "dev.troupe.model", "dev.troupe.weights", "dev.troupe.partition", "dev.troupe.shard",
                            "dev.troupe.offload", "dev.troupe.optimizer", "dev.troupe.stage", "dev.troupe.sum",
                            "dev.troupe.generate")),
            Map.entry("cluster-config", List.of("dev.troupe.config", "com.typesafe")),
            Map.entry("runtime/protocol", List.of("dev.troupe.protocol", "dev.troupe.schedule")),
            Map.entry("runtime/store", List.of("dev.troupe.store")),
            Map.entry("runtime/wire",
                    List.of("dev.troupe.port", "dev.troupe.transport", "dev.troupe.collective",
                            "dev.troupe.snapshot",
                            "dev.troupe.wire", "dev.troupe.engine", "dev.troupe.protocol", "io.aeron", "org.agrona",
                            "org.slf4j")),
            Map.entry("runtime/core",
                    List.of("dev.troupe", "org.apache.pekko", "com.typesafe", "com.fasterxml.jackson", "org.slf4j",
                            "scala.")),
            Map.entry("runtime/library",
                    List.of("dev.troupe", "org.apache.pekko", "com.typesafe", "org.jspecify", "org.slf4j")),
            Map.entry("runtime/serve", List.of("dev.troupe", "com.fasterxml.jackson", "org.slf4j")),
            Map.entry("runtime/metrics", List.of("dev.troupe", "io.micrometer")),
            Map.entry("runtime/opentelemetry", List.of("dev.troupe", "io.opentelemetry")),
            Map.entry("runtime/langchain4j", List.of("dev.troupe", "dev.langchain4j")),
            Map.entry("runtime/spring-ai", List.of("dev.troupe", "org.springframework.ai", "reactor.core")),
            Map.entry("cli", List.of("dev.troupe", "com.fasterxml.jackson", "picocli")));
    /** Modules that may import whatever there is. */
    private static final Set<String> WITHOUT_ARROWS = Set.of("bench", "bom", "examples");
    private static final Pattern MODULE = Pattern.compile("<module>([^<]+)</module>");
    /** The parts that the runtime does not know: the engines, chats, the command. */
    private static final Pattern BEYOND_THE_RUNTIME = Pattern
            .compile("^dev\\.troupe\\.(chat|cli|engine\\.(cpu|cuda|emulated|nd4j|reference|conformance|late))\\..*");
    private static final Pattern IMPORT_BEYOND_THE_JDK = Pattern.compile(
            "^import (?:static )?+((?!javax?\\.|jdk\\.|com\\.sun\\.)[\\w.]+)", Pattern.MULTILINE);
    /** Modules of decisions: the same events in the same order have the same commands, on any thread at any time. */
    private static final List<String> PURE = List.of("runtime/protocol", "runtime/store", "schedules");
    private static final Pattern THREAD_OR_CLOCK = Pattern.compile(
            "\\bThread(?! rule)\\w*|\\bjava\\.util\\.concurrent\\.(?!TimeUnit\\b)[\\w.]+|\\bCompletableFuture\\b|\\bparallelStream\\b"
                    + "|\\bnanoTime\\b|\\bcurrentTimeMillis\\b|\\bjava\\.time\\.(?!Duration\\b)[\\w.]+|\\bnew (?:Secure)?Random\\(\\)"
                    + "|\\bMath\\.random\\b|\\bjava\\.net\\.[\\w.]+|\\bSystem\\.getenv\\b");

    /** Copies in an order that is drawn in each JVM. */
    private static final Pattern DRAWN_ORDER = Pattern
            .compile("\\b(?:Map|Set)\\.copyOf\\(|\\btoUnmodifiable(?:Map|Set)\\b");

    private static final Pattern LOCK = Pattern.compile("\\b(synchronized|volatile)\\b");
    /** The classes of decisions that several threads may call. */
    private static final Set<String> OF_SEVERAL_THREADS = Set.of("Outbox.java", "SnapshotSlots.java",
            "SnapshotWritings.java");

    /** Calls that are not made, with what to write in their place. */
    private static final Map<String, String> BANNED = new TreeMap<>(Map.of(
            "Thread.sleep(", "wait for a condition, with a bound",
            "printStackTrace(", "say it in one sentence, or log it",
            "System.gc(", "close what holds memory",
            "getOriginalMessage(", "JsonDefect, which leaves out the advice to programmers",
            "@Disabled", "a test that runs, or none"));
    /**
     * Calls that depend on the locale of the process, with their replacements: under ar_EG a number has Arabic digits, in
     * file names and JSON too, and under tr_TR the lower case of I has no dot.
     */
    private static final Map<Pattern, String> OF_A_LOCALE = Map.of(
            // of a text, and not of a class of ours such as PercentFormat
            Pattern.compile("\\.formatted\\((?<!\\b[A-Z]\\w{0,60}[a-z]\\w{0,60}\\.formatted\\()|::formatted\\b"),
            "String.format(Locale.ROOT, ...)",
            Pattern.compile("\\bString(?:\\.format\\((?!\\s*Locale\\.)|::format\\b)"),
            "String.format(Locale.ROOT, ...)",
            Pattern.compile("\\.printf\\((?!\\s*Locale\\.)|::printf\\b"), "printf(Locale.ROOT, ...)",
            Pattern.compile("\\bto(?:Upper|Lower)Case\\(\\s*\\)|::to(?:Upper|Lower)Case\\b"), "to...Case(Locale.ROOT)",
            Pattern.compile("\\bnew (?:Formatter|Scanner|SimpleDateFormat|DecimalFormat|MessageFormat)\\("),
            "String.format(Locale.ROOT, ...), or a DateTimeFormatter with its locale",
            Pattern.compile("\\b(?:NumberFormat|DateFormat|MessageFormat)\\.\\w+\\(|\\.ofLocalized\\w+\\("),
            "String.format(Locale.ROOT, ...), or a DateTimeFormatter with its locale",
            Pattern.compile("\\bofPattern\\([^,;]*;"), "ofPattern(..., Locale.ROOT)");
    private static final Pattern COMMENT = Pattern.compile("\\s*(/\\*|\\*|//)");
    private static final Pattern LONELY_TAG = Pattern
            .compile("\\* @(?:param +\\S+|return|throws +\\S+) *\\n *\\* {4,}");
    private static final Pattern WORD = Pattern.compile("\\w+");
    private static final Pattern LEFTOVER = Pattern.compile("\\b(TODO|FIXME|XXX|HACK)\\b");
    /** For the folder of each family the names that its models' tensors have. */
    private static final Map<String, Pattern> FAMILY_NAMES = Map.of(
            "stages/models/src/main/java/dev/troupe/model/gpt2",
            Pattern.compile("\\b(wte|wpe|c_proj|c_attn|c_fc|ln_f|ln_1|ln_2|attn_qkv|position_embd)\\b"),
            "stages/models/src/main/java/dev/troupe/model/rotary",
            Pattern.compile("\\b(q_proj|o_proj|down_proj|input_layernorm|embed_tokens|q_norm|attn_q|ffn_gate)\\b"),
            "stages/models/src/main/java/dev/troupe/model/mixtral", Pattern.compile("block_sparse_moe"),
            "stages/models/src/main/java/dev/troupe/model/qwen3moe", Pattern.compile("mlp_only_layers"),
            "stages/models/src/main/java/dev/troupe/model/glm4moe", Pattern.compile("first_k_dense_replace"));

    @Test
    void shouldPointArrowsTheWayTheHouseHasThem() {
        List<String> wrong = new ArrayList<>();
        ARROWS.forEach((module, allowed) -> sources(ROOT.resolve(module).resolve("src/main")).forEach(file -> {
            Matcher imports = IMPORT_BEYOND_THE_JDK.matcher(TEXTS.get(file));
            while (imports.find()) {
                String imported = imports.group(1);
                if (allowed.stream().noneMatch(imported::startsWith)) {
                    wrong.add(ROOT.relativize(file) + " imports " + imported);
                }
            }
        }));
        assertEquals(List.of(), wrong);
    }

    /** A module that is added has its arrows here, and its place in one of the folders that there are. */
    @Test
    void shouldHaveArrowsForEveryModule() {
        Set<String> judged = new TreeSet<>(ARROWS.keySet());
        judged.addAll(WITHOUT_ARROWS);
        assertEquals(judged,
                MODULE.matcher(SourceTree.read(ROOT.resolve("pom.xml"))).results().map(module -> module.group(1))
                        .collect(Collectors.toCollection(TreeSet::new)));
    }

    @Test
    void shouldKeepEnginesChatsAndTheCommandOutOfTheRuntime() {
        List<String> wrong = new ArrayList<>();
        sources(ROOT.resolve("runtime")).filter(SourceTree::isMain).forEach(file -> IMPORT_BEYOND_THE_JDK
                .matcher(TEXTS.get(file)).results().map(found -> found.group(1))
                .filter(imported -> BEYOND_THE_RUNTIME.matcher(imported).matches())
                .forEach(imported -> wrong.add(ROOT.relativize(file) + " imports " + imported)));
        assertEquals(List.of(), wrong);
    }

    @Test
    void shouldKeepThreadsAndClocksOutOfWhatDecides() {
        List<String> wrong = new ArrayList<>();
        PURE.forEach(module -> sources(ROOT.resolve(module).resolve("src/main"))
                .forEach(file -> THREAD_OR_CLOCK.matcher(TEXTS.get(file)).results().map(MatchResult::group).forEach(
                        call -> wrong.add(ROOT.relativize(file) + " has " + call + ": hand it in as an event"))));
        assertEquals(List.of(), wrong);
    }

    /** A seed that is printed finds the same walk again, and two processes decide alike. */
    @Test
    void shouldWalkOverNothingInAnOrderThatIsDrawnInEachProcess() {
        List<String> wrong = new ArrayList<>();
        sources(ROOT.resolve("runtime/protocol/src/main"))
                .forEach(file -> DRAWN_ORDER.matcher(TEXTS.get(file)).results().map(MatchResult::group).forEach(
                        copy -> wrong.add(ROOT.relativize(file) + " has " + copy + ": take FixedOrder.copyOf")));
        assertEquals(List.of(), wrong);
    }

    @Test
    void shouldLockOnlyWhatSeveralThreadsCall() {
        assertEquals(new TreeSet<>(OF_SEVERAL_THREADS),
                PURE.stream().flatMap(module -> sources(ROOT.resolve(module).resolve("src/main")))
                        .filter(file -> LOCK.matcher(TEXTS.get(file)).find()).map(file -> file.getFileName().toString())
                        .collect(Collectors.toCollection(TreeSet::new)));
    }

    @Test
    void shouldKeepPekkoOutOfTheMiddle() {
        List<String> wrong = sources(ROOT.resolve("runtime/core/src/main"))
                .filter(file -> !file.toString().contains("dev/troupe/run/"))
                .filter(file -> TEXTS.get(file).contains("import org.apache.pekko.")).map(Path::toString).toList();
        assertEquals(List.of(), wrong,
                "actors live in dev.troupe.run.actor; dev.troupe.run and dev.troupe.run.cluster start them");
    }

    @Test
    void shouldMakeNoBannedCallAndLeaveNoMark() {
        List<String> wrong = new ArrayList<>();
        sources(ROOT).filter(file -> !file.endsWith("TidyTest.java")).forEach(file -> {
            String text = TEXTS.get(file);
            BANNED.forEach((call, instead) -> {
                if (text.contains(call) && !file.endsWith("JsonDefect.java")) {
                    wrong.add(ROOT.relativize(file) + " has " + call + ": " + instead);
                }
            });
            Matcher mark = LEFTOVER.matcher(text);
            if (mark.find()) {
                wrong.add(ROOT.relativize(file) + " has the mark " + mark.group());
            }
        });
        assertEquals(List.of(), wrong);
    }

    @Test
    void shouldWriteTheSameUnderEveryLocale() {
        List<String> wrong = new ArrayList<>();
        sources(ROOT).filter(SourceTree::isMain).forEach(file -> OF_A_LOCALE.forEach((call, instead) -> call
                .matcher(TEXTS.get(file)).results().map(MatchResult::group)
                .forEach(found -> wrong.add(ROOT.relativize(file) + " has " + found + ": write " + instead))));
        assertEquals(List.of(), wrong);
    }

    /** A second family is one package more only if nobody else knows the first one's tensors. */
    @Test
    void shouldNameAFamilysTensorsInItsPackageAlone() {
        FAMILY_NAMES.forEach((folder, names) -> assertEquals(Set.of(folder),
                sources(ROOT).filter(SourceTree::isMain).filter(file -> names.matcher(TEXTS.get(file)).find())
                        .map(file -> ROOT.relativize(file.getParent()).toString()).collect(Collectors.toSet())));
    }

    /** Static imports first, then the others, each by name: a merge has one place for a new one. */
    @Test
    void shouldSortImports() {
        List<String> wrong = new ArrayList<>();
        sources(ROOT).forEach(file -> {
            List<String> imports = TEXTS.get(file).lines().filter(line -> line.startsWith("import ")).toList();
            List<String> sorted = imports.stream().sorted(
                    Comparator.comparing((String line) -> !line.startsWith("import static")).thenComparing(
                            line -> line.replace(";", "")))
                    .toList();
            if (!imports.equals(sorted)) {
                wrong.add(ROOT.relativize(file) + " has imports in another order than static first, then by name");
            }
        });
        assertEquals(List.of(), wrong);
    }

    @Test
    void shouldBeginTheTextOfATagOnTheLineOfTheTag() {
        assertEquals(List.of(), sources(ROOT).filter(file -> LONELY_TAG.matcher(TEXTS.get(file)).find())
                .map(file -> ROOT.relativize(file).toString()).toList(), "write @param name and its text on one line");
    }

    @Test
    void shouldKeepCommentsWithinTheWidth() {
        List<String> wrong = new ArrayList<>();
        sources(ROOT).forEach(file -> {
            List<String> lines = TEXTS.get(file).lines().toList();
            for (int i = 0; i < lines.size(); i++) {
                if (lines.get(i).length() > WIDEST_COMMENT && COMMENT.matcher(lines.get(i)).lookingAt()) {
                    wrong.add(ROOT.relativize(file) + ":" + (i + 1) + " has a comment of " + lines.get(i).length()
                            + " columns, at most " + WIDEST_COMMENT);
                }
            }
        });
        assertEquals(List.of(), wrong);
    }

    @Test
    void shouldKeepNoFileThatNobodyUses() {
        Map<Path, Set<String>> words = new TreeMap<>();
        sources(ROOT).forEach(file -> words.put(file, WORD.matcher(TEXTS.get(file)).results().map(MatchResult::group)
                .collect(Collectors.toSet())));
        String named = named();
        List<String> dead = words.keySet().stream().filter(file -> !file.endsWith("package-info.java"))
                .filter(file -> {
                    String name = file.getFileName().toString().replace(".java", "");
                    return !name.endsWith("Test") && !named.contains(name) && words.entrySet().stream()
                            .noneMatch(other -> !other.getKey().equals(file)
                                    && (SourceTree.isMain(other.getKey()) || !SourceTree.isMain(file))
                                    && other.getValue().contains(name));
                }).map(file -> ROOT.relativize(file).toString()).toList();
        assertEquals(List.of(), dead, "no other file names these");
    }

    /** Everything but sources that can name a class: lists of services, build files, configurations, scripts. */
    private static String named() {
        return SourceTree.FILES.stream()
                .filter(file -> file.toString()
                        .matches(".*(META-INF/services/[^/]*|pom\\.xml|\\.conf|/troupe|bench/[^.]*)"))
                .filter(Files::isRegularFile).map(SourceTree::read).collect(Collectors.joining("\n"));
    }

    @Test
    void shouldDescribeEveryPackage() {
        assertEquals(List.of(),
                sources(ROOT).filter(file -> file.toString().contains("/src/main/")).map(Path::getParent)
                        .distinct().filter(folder -> !Files.exists(folder.resolve("package-info.java")))
                        .map(folder -> ROOT.relativize(folder).toString()).toList());
    }

    @Test
    void shouldSeeTheSourcesItJudges() {
        assertTrue(sources(ROOT).count() > 100, "the tidy test looks in the wrong place: " + ROOT);
        ARROWS.keySet().forEach(module -> assertFalse(
                sources(ROOT.resolve(module).resolve("src/main")).toList().isEmpty(), module));
    }

    private static Stream<Path> sources(Path folder) {
        return TEXTS.keySet().stream().filter(file -> file.startsWith(folder));
    }
}
