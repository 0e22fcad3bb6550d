import { expect, test } from 'vitest';
import { findTools } from './listTools.ts';

test.each([
  ['```sh\nkubectl apply --kustomize x   # and so on; RUN_BASE and others\nnpm start\n```', ['kubectl']],
  ['```sh\n(cd deploy && promtool test rules a.yml)\n```', ['promtool']],
  ['```sh\nA=1 B=2 podman run \\\n  image relayer; systemctl start x | tee log\n```', ['podman', 'systemctl', 'tee']],
  ['`kubectl`\n```json\nkubectl\n```\n', []],
])('%s', (text, tools) => {
  expect(findTools(text)).toEqual(tools);
});
