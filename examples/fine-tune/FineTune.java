import dev.troupe.TrainingData;
import dev.troupe.TrainingResult;
import dev.troupe.TrainingSpec;
import dev.troupe.Troupe;
import java.nio.file.Path;

/** Fine-tunes the model of a Hugging Face folder with LoRA on a file of text, and writes the adapter for PEFT. */
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
                .learningRate(1e-2)
                .set("training.lora.rank", 4) // without this line, all weights are trained
                .build();
        TrainingResult result = Troupe.train(spec, TrainingData.ofFiles(text),
                step -> System.out.printf("step %d: loss %.4f%n", step.step(), step.loss()));
        System.out.printf("The loss went from %.4f to %.4f; the adapter is in %s%n", result.losses().getFirst(),
                result.losses().getLast(), result.model().orElseThrow());
    }
}
