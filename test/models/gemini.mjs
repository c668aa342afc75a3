// Google's own SDK against the sandbox. The first requests are those that our
// client makes too, in the same order.
import assert from 'node:assert/strict';
import { ApiError, GoogleGenAI, ThinkingLevel } from '@google/genai';
import { base, fault, intent, isPNG } from './intent.mjs';

const client = new GoogleGenAI({ apiKey: 'sk-test', httpOptions: { baseUrl: base } });
const generate = (config, model = intent.model) =>
  client.models.generateContent({
    model,
    contents: intent.user,
    config: { systemInstruction: intent.system, maxOutputTokens: intent.max_tokens, seed: intent.seed, ...config },
  });

const thinkingConfig = { thinkingLevel: ThinkingLevel.LOW };
const strict = await generate({ thinkingConfig, responseMimeType: 'application/json', responseJsonSchema: intent.schema });
assert.equal(JSON.parse(strict.text).variants.length, intent.variants);
assert.equal(strict.candidates[0].finishReason, 'STOP');
assert.equal(strict.modelVersion, intent.model);
assert.ok(strict.usageMetadata.promptTokenCount > 0 && strict.usageMetadata.candidatesTokenCount > 0);

await generate({ thinkingConfig, responseMimeType: 'application/json' });
await generate({ thinkingConfig });

const drawn = await client.models.generateContent({
  model: 'gemini-2.5-flash-image',
  contents: intent.prompt,
  config: { responseModalities: ['TEXT', 'IMAGE'], imageConfig: { aspectRatio: '1:1' } },
});
isPNG(Buffer.from(drawn.data, 'base64'));
assert.equal(drawn.candidates[0].content.parts.find((p) => p.inlineData).inlineData.mimeType, 'image/png');

const refused = (status, text) => (e) => e instanceof ApiError && e.status === status && e.message.includes(text);
await assert.rejects(generate({}, 'sandbox-unauthorized'), refused(400, 'API_KEY_INVALID'));
await assert.rejects(generate({}, 'sandbox-throttled'), refused(429, 'RESOURCE_EXHAUSTED'));
await assert.rejects(generate({}, 'sandbox-unavailable'), refused(500, 'INTERNAL'));
await assert.rejects(generate({}, 'sandbox-dropped'));
await assert.rejects(generate({ httpOptions: { headers: fault('hang'), timeout: 50 } }));
assert.equal((await generate({}, 'sandbox-truncated')).candidates[0].finishReason, 'MAX_TOKENS');
assert.equal((await generate({}, 'sandbox-refusal')).candidates[0].finishReason, 'SAFETY');
assert.equal((await generate({}, 'sandbox-filtered')).promptFeedback.blockReason, 'PROHIBITED_CONTENT');
