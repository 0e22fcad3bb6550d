#!/usr/bin/env node
/**
 * An account for `infra/rehearse` on this machine: as `aws`, `curl` and `npm` on the PATH it answers what the rehearsal asks, by a state in
 * FAKE_AWS_STATE. It knows no AWS: what it shows is that the script does its steps in order, checks what it finds and hides what it must.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';

const file = process.env.FAKE_AWS_STATE ?? '';
const state = JSON.parse(readFileSync(file, 'utf8'));
const [, program = '', ...args] = process.argv;
const after = (name) => args[args.indexOf(name) + 1] ?? '';
const [service, act] = args;
const EDGE = 'https://d111111abcdef8.cloudfront.net';
const FUNCTION = 'https://abcdefghij.lambda-url.eu-central-1.on.aws';
const OUTPUTS = {
  Url: after('--stack-name').endsWith('-edge') ? EDGE : FUNCTION,
  AdminApiKeyArn: 'arn:admin',
  OriginSecretArn: 'arn:origin',
  CursorSecretArn: 'arn:cursor',
};

/** @returns what is printed, and the exit status */
function answer() {
  const name = basename(program);
  state.calls.push([name, ...args].join(' '));
  if (name === 'npm') {
    if (args.includes('--stage') || readFileSync(after('--settings'), 'utf8').includes('BUCKET_NAME=aws'))
      return ['rolled back', 1];
    state.version++;
    state.running = { ...state.secrets };
    return [`deployed for account 123456789012 at ${FUNCTION}`, 0];
  }
  if (name === 'curl') {
    const key = after('-H').replace('X-Admin-Key: ', '');
    const url = args.find((arg) => arg.startsWith('http')) ?? '';
    if (url.includes('/admin')) return ['', state.running['arn:admin'].split(',').includes(key) ? 0 : 22];
    const status = url.startsWith(FUNCTION) ? 403 : (state.ready ?? 200);
    if (url.endsWith('/openapi.json')) return [JSON.stringify({ servers: [{ url: state.published ?? EDGE }] }), 0];
    return [args.includes('-w') ? String(status) : '', status === 200 || !args.includes('-sf') ? 0 : 22];
  }
  if (service === 'cloudformation' && act === 'describe-stacks') {
    const [, output = ''] = /OutputKey=='(\w+)'/.exec(after('--query')) ?? [];
    return [OUTPUTS[output] ?? '', 0];
  }
  if (act === 'get-secret-value') return [state.secrets[after('--secret-id')], 0];
  if (act === 'put-secret-value') state.secrets[after('--secret-id')] = after('--secret-string');
  if (act === 'get-alias') return [String(state.version), 0];
  if (act === 'get-function-configuration') return ['arn:aws:iam::123456789012:role/gateway', 0];
  if (act === 'put-role-policy') state.denied = true;
  if (act === 'delete-role-policy') state.denied = false;
  if (act === 'describe-alarms') return [state.denied ? 'ALARM' : 'OK', 0];
  if (act === 'describe-table') return ['arn:aws:dynamodb:eu-central-1:123456789012:table/x/stream/1', 0];
  return ['', 0];
}

const [text, status] = answer();
// The probe of a rotation calls beside the rest: it changes nothing, and finds the state whole.
if (basename(program) !== 'curl') {
  writeFileSync(`${file}.next`, JSON.stringify(state));
  renameSync(`${file}.next`, file);
}
process.stdout.write(`${text}\n`);
process.exitCode = status;
