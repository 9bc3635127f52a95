import dev.troupe.TrainingHandle;
import dev.troupe.TrainingListener;
import dev.troupe.TrainingResult;
import dev.troupe.Troupe;
import java.nio.file.Path;

/**
 * Takes part in a run over several processes. An application names one node of the file, its own; this one is two
 * applications at once, so that it runs by itself. The others may be applications too, or {@code ./troupe node FILE NAME}.
 */
class JoinACluster {
    public static void main(String[] arguments) throws InterruptedException {
        Path cluster = Path.of(arguments[0]);
        TrainingHandle a = Troupe.join(cluster, "a",
                step -> System.out.printf("step %d: loss %.4f%n", step.step(), step.loss()));
        TrainingHandle b = Troupe.join(cluster, "b", TrainingListener.NONE);
        TrainingResult led = a.await();
        System.out.printf("Node a led %d steps; the model is in %s%n", led.stepsDone(), led.model().orElseThrow());
        System.out.printf("Node b took part in %d steps%n", b.await().stepsDone());
    }
}
