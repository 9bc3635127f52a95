import dev.troupe.TrainingData;
import dev.troupe.TrainingEvent;
import dev.troupe.TrainingHandle;
import dev.troupe.TrainingListener;
import dev.troupe.TrainingResult;
import dev.troupe.TrainingSpec;
import dev.troupe.TrainingStep;
import dev.troupe.Troupe;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Trains on four stages in one JVM, under a zero-bubble schedule; a stage fails in the third step and starts again inside
 * it, and the program stops the run from another thread.
 */
class FourStages {
    public static void main(String[] arguments) throws InterruptedException {
        TrainingSpec spec = TrainingSpec.builder()
                .name("four-stages")
                .stages(4)
                .schedule("zb-h1")
                .batch(8, 2)
                .steps(1_000)
                .set("model.layers", 4)
                .set("model.hidden", 32)
                .set("model.sequence-length", 32)
                .set("faults", List.of("exception stage=2 step=2 microbatch=3 at=F"))
                .build();
        CountDownLatch eightSteps = new CountDownLatch(8);
        TrainingHandle run = Troupe.start(spec, TrainingData.configured(), new TrainingListener() {
            @Override
            public void onStep(TrainingStep step) {
                eightSteps.countDown();
                System.out.printf("step %d: loss %.4f, %,.0f tokens/s%n", step.step(), step.loss(),
                        step.tokensPerSecond());
            }

            @Override
            public void onEvent(TrainingEvent event) {
                System.out.println(event.kind() + ": " + event.sentence());
            }
        });
        eightSteps.await();
        run.stop();
        TrainingResult result = run.await();
        System.out.printf("Stopped after %d steps; %s can be resumed%n", result.stepsDone(), result.directory());
    }
}
