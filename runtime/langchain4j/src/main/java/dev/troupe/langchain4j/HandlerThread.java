package dev.troupe.langchain4j;

import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The thread that calls the handler of one stream, and the thread that waits for its text. The generator's thread writes
 * the texts of others, so it must not wait for a handler. No more pieces wait than the text has.
 */
final class HandlerThread {
    private final StreamingChatResponseHandler handler;
    private final Thread waiting;
    /** Whether the handler has thrown an exception, after which it receives nothing. Only the handler's thread reads it. */
    private boolean hasFailed;

    private HandlerThread(StreamingChatResponseHandler handler, Thread waiting) {
        this.handler = handler;
        this.waiting = waiting;
    }

    /** Starts a stream; does not wait for it. */
    static void start(StreamingChatResponseHandler handler, Function<Consumer<String>, ChatResponse> answer) {
        Thread.ofVirtual().name("langchain4j-stream").start(() -> {
            HandlerThread calls = new HandlerThread(handler, Thread.currentThread());
            try (ExecutorService thread = Executors.newSingleThreadExecutor(Thread.ofVirtual().factory())) {
                try {
                    ChatResponse whole = answer
                            .apply(piece -> thread.execute(() -> calls.call(() -> handler.onPartialResponse(piece))));
                    thread.execute(() -> calls.call(() -> handler.onCompleteResponse(whole)));
                } catch (Throwable failure) { // after an Error, too, the caller would wait for ever without a call
                    thread.execute(() -> calls.fail(failure));
                    throwIfError(failure);
                }
            }
        });
    }

    /** A handler that fails ends its text, as one of LangChain4j's other models does. */
    private void call(Runnable news) {
        if (hasFailed) {
            return;
        }
        try {
            news.run();
        } catch (Throwable failure) {
            try {
                fail(failure);
            } finally {
                waiting.interrupt();
            }
            throwIfError(failure);
        }
    }

    private static void throwIfError(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
    }

    private void fail(Throwable failure) {
        if (!hasFailed) {
            hasFailed = true;
            handler.onError(failure);
        }
    }
}
