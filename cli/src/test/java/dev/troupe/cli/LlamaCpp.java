package dev.troupe.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import de.kherud.llama.InferenceParameters;
import de.kherud.llama.LlamaModel;
import de.kherud.llama.ModelParameters;
import de.kherud.llama.args.CacheType;
import de.kherud.llama.args.LogFormat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * llama.cpp by java-llama.cpp, in a process of its own: the native library is made for processors with AVX2, and on another
 * one its process ends.
 *
 * @param ids the ids of the prompt, special tokens found in it, none added
 * @param text the text that the model writes after it, at each place the most likely token
 */
record LlamaCpp(List<Integer> ids, String text) {
    private static final int NO_LIBRARY = 3;
    private static final int ILLEGAL_INSTRUCTION = 128 + 4;
    private static final int CRASHED = 128 + 6; // a JVM ends so after it has reported an illegal instruction
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Loads a GGUF file and lets it write; skips the test if the native library does not run. */
    static LlamaCpp write(Path model, String prompt, int count) throws IOException, InterruptedException {
        Path home = Files.createDirectories(Path.of("target/llama").toAbsolutePath());
        Path out = home.resolve("answer-" + ProcessHandle.current().pid() + ".json");
        Path log = home.resolve("log-" + ProcessHandle.current().pid() + ".txt");
        Process process = new ProcessBuilder(OtherJvm.command(
                List.of("--enable-native-access=ALL-UNNAMED", "-Xmx256m", "-XX:+UseSerialGC",
                        "-Dde.kherud.llama.tmpdir=" + home),
                LlamaCpp.class, List.of(model.toString(), prompt, "" + count, out.toString()))).directory(home.toFile())
                .redirectErrorStream(true).redirectOutput(log.toFile()).start();
        try {
            assertEquals(true, process.waitFor(60, TimeUnit.SECONDS), "llama.cpp does not end");
            int exitCode = process.exitValue();
            String said = Files.readString(log, StandardCharsets.ISO_8859_1);
            assumeFalse(exitCode == NO_LIBRARY || exitCode == ILLEGAL_INSTRUCTION
                    || exitCode == CRASHED && said.contains("SIGILL"),
                    () -> "the library of java-llama.cpp does not run on this system: " + said);
            assertEquals(0, exitCode, said);
            JsonNode answer = JSON.readTree(out.toFile());
            return new LlamaCpp(answer.get("ids").valueStream().map(JsonNode::asInt).toList(),
                    answer.get("text").asText());
        } finally {
            process.destroyForcibly();
            Files.deleteIfExists(out);
            Files.deleteIfExists(log);
        }
    }

    /** The process: a model, a prompt, the number of tokens to write, and the file for the answer. */
    public static void main(String[] arguments) throws IOException {
        try {
            LlamaModel.setLogger(LogFormat.TEXT, (_, message) -> System.out.print(message));
        } catch (UnsatisfiedLinkError | ExceptionInInitializerError absent) {
            System.out.println(absent.getMessage());
            System.exit(NO_LIBRARY);
        }
        try (LlamaModel model = new LlamaModel(
                new ModelParameters().setModel(arguments[0]).setThreads(1).setCtxSize(256)
                        .setCacheTypeK(CacheType.F32).setCacheTypeV(CacheType.F32))) {
            ObjectNode answer = JSON.createObjectNode();
            ArrayNode ids = answer.putArray("ids");
            Arrays.stream(model.encode(arguments[1])).forEach(ids::add);
            answer.put("text", model.complete(new InferenceParameters(arguments[1]).setTemperature(0).setIgnoreEos(true)
                    .setNPredict(Integer.parseInt(arguments[2])).setCachePrompt(false)));
            JSON.writeValue(Path.of(arguments[3]).toFile(), answer);
        }
        Runtime.getRuntime().halt(0); // a thread of the library would run for ever
    }
}
