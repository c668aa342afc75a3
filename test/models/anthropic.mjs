// Anthropic's own SDK against the sandbox. The first requests are those that
// our client makes too, in the same order.
import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import { jsonSchemaOutputFormat } from '@anthropic-ai/sdk/helpers/json-schema';
import { base, fault, intent } from './intent.mjs';

const client = new Anthropic({ apiKey: 'sk-test', baseURL: base, maxRetries: 0 });
const common = { model: intent.model, max_tokens: intent.max_tokens, system: intent.system, messages: [{ role: 'user', content: intent.user }], output_config: { effort: 'low' } };

// The helper takes out of the schema what the API does not support.
const strict = await client.messages.parse({ ...common, output_config: { effort: 'low', format: jsonSchemaOutputFormat(intent.schema) } });
assert.equal(strict.stop_reason, 'end_turn');
assert.equal(strict.parsed_output.variants.length, intent.variants);
assert.ok(strict.usage.input_tokens > 0 && strict.usage.output_tokens > 0);

const tool = await client.messages.create({
  ...common,
  tools: [{ name: 'answer', description: 'Hands in the answer.', input_schema: intent.schema }],
  tool_choice: { type: 'tool', name: 'answer' },
});
assert.equal(tool.stop_reason, 'tool_use');
assert.equal(tool.content[0].type, 'tool_use');
assert.equal(tool.content[0].input.variants.length, intent.variants);

assert.equal((await client.messages.create(common)).content[0].type, 'text');

const say = (name) => client.messages.create({ ...common, model: name });
await assert.rejects(say('sandbox-unauthorized'), (e) => e instanceof Anthropic.AuthenticationError && e.error.error.type === 'authentication_error');
await assert.rejects(say('sandbox-throttled'), (e) => e instanceof Anthropic.RateLimitError && e.headers.get('retry-after') === '1');
await assert.rejects(say('sandbox-unavailable'), Anthropic.InternalServerError);
await assert.rejects(say('sandbox-dropped'), Anthropic.APIConnectionError);
await assert.rejects(client.messages.create({ ...common, unknown: 1 }), Anthropic.BadRequestError);
await assert.rejects(client.messages.create(common, { headers: fault('hang'), timeout: 50 }), Anthropic.APIConnectionTimeoutError);
assert.equal((await say('sandbox-truncated')).stop_reason, 'max_tokens');
assert.equal((await say('sandbox-refusal')).stop_reason, 'refusal');
