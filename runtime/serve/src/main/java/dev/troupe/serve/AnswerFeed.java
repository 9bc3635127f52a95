package dev.troupe.serve;

import dev.troupe.look.model.Submission;
import dev.troupe.look.model.TextEnd;
import dev.troupe.look.model.TextListener;
import dev.troupe.look.model.TextPiece;
import dev.troupe.look.model.TextRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The texts of one request between the thread that computes them and the thread that sends them. It holds at most the tokens
 * of these texts, so a slow reader delays no other.
 *
 * <p>Thread rule: one thread takes.
 */
final class AnswerFeed implements AutoCloseable {
    /** News of a text; the index is its place in the request. */
    sealed interface News {
        int index();

        record Piece(int index, TextPiece piece) implements News {
        }

        record End(int index, TextEnd end) implements News {
        }

        record Failed(int index, RuntimeException failure) implements News {
        }
    }

    private final BlockingQueue<News> news = new LinkedBlockingQueue<>();
    private final List<Submission> submissions = new ArrayList<>();

    AnswerFeed(List<TextRequest> texts) {
        for (int index = 0; index < texts.size(); index++) {
            submissions.add(new Submission(texts.get(index), new Listener(index)));
        }
    }

    private final class Listener implements TextListener {
        private final int index;

        Listener(int index) {
            this.index = index;
        }

        @Override
        public void piece(TextPiece piece) {
            news.add(new News.Piece(index, piece));
        }

        @Override
        public void end(TextEnd end) {
            news.add(new News.End(index, end));
        }

        @Override
        public void failed(RuntimeException failure) {
            news.add(new News.Failed(index, failure));
        }
    }

    List<Submission> submissions() {
        return submissions;
    }

    /** Waits for news; empty if there are none within the limit. */
    Optional<News> next(Duration limit) throws InterruptedException {
        return Optional.ofNullable(news.poll(limit.toNanos(), TimeUnit.NANOSECONDS));
    }

    /** Cancels texts that have not ended. */
    @Override
    public void close() {
        submissions.forEach(Submission::cancel);
    }
}
