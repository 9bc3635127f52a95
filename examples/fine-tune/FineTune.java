import dev.troupe.TrainingData;
import dev.troupe.TrainingResult;
import dev.troupe.TrainingSpec;
import dev.troupe.Troupe;
import java.nio.file.Path;

/** Fine-tunes the model of a Hugging Face folder on a file of text, and writes it in the same layout. */
class FineTune {
    public static void main(String[] arguments) throws InterruptedException {
        Path folder = Path.of(arguments[0]); // config.json, model.safetensors and, where there is one, tokenizer.json
        Path text = Path.of(arguments[1]);
        TrainingSpec spec = TrainingSpec.builder()
                .name("fine-tuned")
                .model(folder)
                .set("model.sequence-length", 32)
                .stages(2)
                .batch(8, 2)
                .steps(10)
                .learningRate(1e-3)
                // Any other setting has its place here, by the key that ./troupe keys lists.
                .set("training.learning-rate.schedule", "constant")
                .build();
        TrainingResult result = Troupe.train(spec, TrainingData.ofFiles(text),
                step -> System.out.printf("step %d: loss %.4f%n", step.step(), step.loss()));
        System.out.printf("The loss went from %.4f to %.4f; the model is in %s%n", result.losses().getFirst(),
                result.losses().getLast(), result.model().orElseThrow());
    }
}
