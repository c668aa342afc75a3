// What is to be asked for, from the test that runs the scripts.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

export const base = process.env.SANDBOX_URL;
export const intent = JSON.parse(readFileSync(process.env.INTENT_FILE, 'utf8'));

// fault are the headers that make the sandbox fail.
export const fault = (name) => ({ 'X-Sandbox-Fault': name });

export const isPNG = (bytes) => assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
