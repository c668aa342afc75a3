// OpenAI's own SDK against the sandbox. The first requests are those that our
// client makes too, in the same order.
import assert from 'node:assert/strict';
import OpenAI from 'openai';
import { base, fault, intent, isPNG } from './intent.mjs';

const client = new OpenAI({ apiKey: 'sk-test', baseURL: `${base}/v1`, maxRetries: 0 });
const messages = [
  { role: 'system', content: intent.system },
  { role: 'user', content: intent.user },
];
const common = { model: intent.model, messages, max_tokens: intent.max_tokens, seed: intent.seed };

const strict = await client.chat.completions.create({
  ...common,
  response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: intent.schema } },
});
assert.equal(strict.object, 'chat.completion');
assert.equal(strict.choices[0].finish_reason, 'stop');
assert.equal(JSON.parse(strict.choices[0].message.content).variants.length, intent.variants);
assert.ok(strict.usage.prompt_tokens > 0 && strict.usage.total_tokens === strict.usage.prompt_tokens + strict.usage.completion_tokens);

await client.chat.completions.create({ ...common, response_format: { type: 'json_object' } });
await client.chat.completions.create(common);

for (const model of ['gpt-image-1', 'dall-e-3']) {
  const drawn = await client.images.generate({
    model,
    prompt: intent.prompt,
    n: 1,
    size: '1024x1024',
    ...(model === 'dall-e-3' ? { response_format: 'b64_json' } : {}),
  });
  isPNG(Buffer.from(drawn.data[0].b64_json, 'base64'));
}

const chat = (name) => client.chat.completions.create({ ...common, model: name });
await assert.rejects(chat('sandbox-unauthorized'), (e) => e instanceof OpenAI.AuthenticationError && e.code === 'invalid_api_key');
await assert.rejects(chat('sandbox-throttled'), (e) => e instanceof OpenAI.RateLimitError && e.headers.get('retry-after') === '1');
await assert.rejects(chat('sandbox-unavailable'), OpenAI.InternalServerError);
await assert.rejects(chat('sandbox-dropped'), OpenAI.APIConnectionError);
await assert.rejects(chat('sandbox-filtered'), (e) => e instanceof OpenAI.BadRequestError && e.code === 'content_filter');
await assert.rejects(client.chat.completions.create({ ...common, unknown: 1 }), OpenAI.BadRequestError);
await assert.rejects(client.chat.completions.create(common, { headers: fault('hang'), timeout: 50 }), OpenAI.APIConnectionTimeoutError);
assert.equal((await chat('sandbox-truncated')).choices[0].finish_reason, 'length');
assert.match((await chat('sandbox-refusal')).choices[0].message.refusal, /sorry/);

// The SDK understands the refusals well enough to try again by itself.
const patient = new OpenAI({ apiKey: 'sk-test', baseURL: `${base}/v1`, maxRetries: 1 });
assert.ok((await patient.chat.completions.create({ ...common, model: 'sandbox-unavailable-1' })).id);
