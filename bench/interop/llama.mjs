// Reads GGUF files by llama.cpp: node llama.mjs NODE_MODULES REQUESTS.json; a line of JSON for each request.
import {readFileSync} from "node:fs";
import {pathToFileURL} from "node:url";
import path from "node:path";

const [modules, requests] = process.argv.slice(2);
const entry = path.join(modules, "node-llama-cpp", "dist", "index.js");
const {getLlama} = await import(pathToFileURL(entry));
const llama = await getLlama({gpu: false, build: "never", logLevel: "error", skipDownload: true, maxThreads: 2});
for (const {file, text, prompt, count} of JSON.parse(readFileSync(requests, "utf8"))) {
    const model = await llama.loadModel({modelPath: file});
    const context = await model.createContext({contextSize: 64, batchSize: 64, sequences: 1});
    const written = [];
    for await (const token of context.getSequence().evaluate(prompt, {temperature: 0, yieldEogToken: true})) {
        written.push(Number(token));
        if (written.length === count) break;
    }
    const tokens = model.tokenize(text, true).map(Number);
    console.log(JSON.stringify({file, tokens, written, beginning: model.tokens.shouldPrependBosToken,
        architecture: model.fileInfo.metadata.general.architecture}));
    await context.dispose();
    await model.dispose();
}
process.exit(0);
