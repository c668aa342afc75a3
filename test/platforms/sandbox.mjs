// What a script gets from the test that runs it, and how it answers.
import { writeFileSync } from 'node:fs';

// grant opens the platform: account_id, access_token, refresh_token.
// intent is what else the test wants to be asked for.
export const { grant, intent } = JSON.parse(process.env.SANDBOX_INPUT);

// answer is what the test gets back.
export const answer = (value) => writeFileSync(process.env.SANDBOX_OUTPUT, JSON.stringify(value));

// control calls the sandbox's own API, such as POST faults.
export const control = async (method, path, body) => {
  const got = await fetch(`${process.env.SANDBOX_URL}/_sandbox/${path}`, { method, body: body && JSON.stringify(body) });
  if (!got.ok) {
    throw new Error(`${method} ${path}: ${got.status} ${await got.text()}`);
  }
  return got.status === 204 ? undefined : got.json();
};

// fails has the platform fail in a way, once.
export const fails = (platform, fault, path = '') => control('POST', 'faults', { platform, fault, count: 1, ...(path && { path }) });
