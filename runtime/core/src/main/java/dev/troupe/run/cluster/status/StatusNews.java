package dev.troupe.run.cluster.status;

import dev.troupe.plan.prepare.RunFacts;
import dev.troupe.protocol.watch.LastingNotices;
import dev.troupe.run.news.RunListener;
import dev.troupe.run.news.RunNews;
import java.util.List;

/** The listener that shows the news of a run in the status of its coordinator's node. Thread rule: as for any listener. */
public final class StatusNews implements RunListener {
    private final StatusBoard board;
    private final RunFacts run;
    private final LastingNotices notices = new LastingNotices();

    public StatusNews(StatusBoard board, RunFacts run) {
        this.board = board;
        this.run = run;
    }

    @Override
    public void on(RunNews news) {
        switch (news) {
            case RunNews.Waiting(var missing) -> board.change(before -> before.awaiting(missing));
            case RunNews.Started _ -> board.change(before -> before.awaiting(List.of()));
            case RunNews.StepDone(var result, double seconds) ->
                board.change(before -> before.at(new NodeStatus.Progress(result.step() + 1, result.loss(),
                        run.tokensPerStep() / seconds, notices.sentences())));
            case RunNews.Recovered(var recovery) -> board.change(before -> before.in(recovery.epoch()));
            case RunNews.Noticed(var notice) -> notices.add(notice);
            default -> {
                // no part of a status
            }
        }
    }
}
