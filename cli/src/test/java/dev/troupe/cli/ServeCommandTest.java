package dev.troupe.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.troupe.cli.stop.ExitCode;
import java.io.BufferedReader;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code troupe serve} as a command: its refusals, and its end. */
@Tag("real")
@Timeout(120)
class ServeCommandTest {
    @TempDir
    private static Path directory;

    @BeforeAll
    static void write() throws Exception {
        SmallModel.write(directory, "llama", "qwen", Map.of("key-value-heads", 2));
    }

    @Test
    void shouldRefuseToServeOthersWithoutProtection() throws Exception {
        String model = directory.toString();
        Execution.command("serve", model, "--host", "0.0.0.0")
                .requireRefused("--tls-certificate and --token-file are needed");
        Execution.command("serve", model, "--tls-key", model).requireRefused("HTTPS needs all of");
        Execution.command("serve", model, "--port", "70000").requireRefused("--port must be from 0 to 65535");
        Execution.command("serve", model, "--context", "65").requireRefused("--context must be at most 64");
        Execution.command("serve", model, "--token-file", model).requireRefused("--token-file");
        Execution.command("serve", directory.resolve("nothing").toString()).requireRefused("has none of their files");
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            Execution.command("serve", model, "--port", "" + taken.getLocalPort())
                    .requireRefused("choose another with --port");
        }
    }

    @Test
    void shouldEndAfterTheAnswersInProgress() throws Exception {
        Process process = new ProcessBuilder(command("serve", directory.toString(), "--port", "0", "--name", "small"))
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (BufferedReader output = process.inputReader(); HttpClient client = HttpClient.newHttpClient()) {
            String line = output.readLine();
            URI address = URI.create(line.replaceFirst("Serving small at (\\S+) .*", "$1") + "/completions");
            HttpResponse<InputStream> streamed = client.send(HttpRequest.newBuilder(address)
                    .header("Content-Type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString(
                            "{\"model\": \"small\", \"prompt\": \"To be\", \"max_tokens\": 60, \"temperature\": 0,"
                                    + " \"stream\": true}"))
                    .build(), HttpResponse.BodyHandlers.ofInputStream());
            int first = streamed.body().read();
            process.destroy();
            assertEquals('d', first);
            String rest = new String(streamed.body().readAllBytes(), UTF_8);
            assertTrue(rest.contains("\"finish_reason\":\"length\"") && rest.endsWith("data: [DONE]\n\n"), rest);
            assertTrue(process.waitFor(60, TimeUnit.SECONDS));
            assertEquals(ExitCode.DONE, process.exitValue());
        } finally {
            process.destroyForcibly();
        }
    }

    private static List<String> command(String... arguments) {
        List<String> command = new ArrayList<>(List.of(ProcessHandle.current().info().command().orElseThrow(),
                "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED", "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow", "--add-modules=jdk.incubator.vector", "-cp",
                System.getProperty("java.class.path"), "dev.troupe.cli.Troupe"));
        command.addAll(List.of(arguments));
        return command;
    }
}
