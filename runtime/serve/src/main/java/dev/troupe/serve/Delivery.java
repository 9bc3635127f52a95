package dev.troupe.serve;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.troupe.look.model.TextEnd;
import dev.troupe.look.model.TextPiece;
import dev.troupe.look.model.WrittenAnswer;
import dev.troupe.plan.error.UserErrors;
import dev.troupe.serve.AnswerFeed.News;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The texts of a request on their way to the reader: all at once, or piece by piece as events. */
final class Delivery {
    private static final Logger LOG = LoggerFactory.getLogger(Delivery.class);
    /** The interval of comments in a stream without news, by which a reader that has disconnected is noticed. */
    private static final Duration SILENCE = Duration.ofSeconds(5);

    /** The place where events are sent. */
    @FunctionalInterface
    interface Events {
        /** @throws IOException if the reader has disconnected */
        void send(byte[] bytes) throws IOException;
    }

    private final CompletionRequest request;
    private final AnswerWriter writer;
    private final AnswerFeed feed;

    Delivery(CompletionRequest request, AnswerWriter writer, AnswerFeed feed) {
        this.request = request;
        this.writer = writer;
        this.feed = feed;
    }

    /**
     * Waits for all texts.
     *
     * @throws ApiException if one fails, or the server ends before
     */
    ObjectNode whole() throws InterruptedException {
        int count = request.texts().size();
        List<WrittenAnswer.Builder> texts = Stream.generate(WrittenAnswer.Builder::new).limit(count).toList();
        WrittenAnswer[] answers = new WrittenAnswer[count];
        for (int ended = 0; ended < count;) {
            switch (feed.next(SILENCE).orElse(null)) {
                case null -> {
                }
                case News.Piece(int index, TextPiece piece) -> texts.get(index).add(piece);
                case News.End(int index, TextEnd end) -> {
                    requireOwnEnd(end);
                    ended++;
                    answers[index] = texts.get(index).end(end);
                }
                case News.Failed(int _, RuntimeException failure) -> throw refusal(failure);
            }
        }
        return writer.whole(List.of(answers), request.promptTokens());
    }

    /**
     * Sends events until all texts have ended. A failure is an event too, since the status was sent before.
     *
     * @throws IOException if the reader has disconnected
     */
    void stream(Events events) throws IOException, InterruptedException {
        try {
            int count = request.texts().size();
            for (int index = 0; request.isChat() && index < count; index++) {
                send(events, writer.begin(index));
            }
            int tokens = 0;
            for (int ended = 0; ended < count;) {
                switch (feed.next(SILENCE).orElse(null)) {
                    case null -> events.send(": waiting\n\n".getBytes(StandardCharsets.UTF_8));
                    case News.Piece(int index, TextPiece piece) -> {
                        if (!piece.text().isEmpty() || piece.logProbability().isPresent()) {
                            send(events, writer.piece(index, piece));
                        }
                    }
                    case News.End(int index, TextEnd end) -> {
                        requireOwnEnd(end);
                        ended++;
                        tokens += end.tokens();
                        if (!end.rest().isEmpty()) {
                            send(events, writer.text(index, end.rest()));
                        }
                        send(events, writer.end(index, end));
                    }
                    case News.Failed(int _, RuntimeException failure) -> throw refusal(failure);
                }
            }
            if (request.countsUsage()) {
                send(events, writer.usageChunk(request.promptTokens(), tokens));
            }
            events.send("data: [DONE]\n\n".getBytes(StandardCharsets.UTF_8));
        } catch (ApiException failed) {
            send(events, failed.body());
        }
    }

    private static void requireOwnEnd(TextEnd end) {
        if (end.reason() == TextEnd.Reason.CANCELLED) {
            throw ApiException.ofServer(ApiException.UNAVAILABLE, "shutting_down",
                    "the server ended before the answer was complete: send the request again");
        }
    }

    private static ApiException refusal(RuntimeException failure) {
        LOG.error("a text failed", failure);
        return ApiException.ofServer(ApiException.FAILED, null, UserErrors.sentenceOf(failure)
                .orElse("the answer failed, which is a defect of the server: its log has the cause"));
    }

    private static void send(Events events, ObjectNode event) throws IOException {
        events.send(("data: " + event + "\n\n").getBytes(StandardCharsets.UTF_8));
    }
}
