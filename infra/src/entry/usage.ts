import { GATEWAY_SETTINGS, STACK_SETTINGS } from '../settings/knownSettings.ts';

/** Writes a setting's name as an option: `IDENTITY_APP_ID` is `identity-app-id`. */
export const optionOf = (name: string) => name.toLowerCase().replaceAll('_', '-');

const NAME_WIDTH = 32;
const LINE_WIDTH = 110;

/** Lists words, some a line. */
function wrap(words: readonly string[], indent: string): string {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 2 > LINE_WIDTH) lines.push(`${indent}${word}`);
    else lines[lines.length - 1] = `${last}, ${word}`;
  }
  return lines.join(',\n');
}

/** Writes what `--help` shows. */
export function writeUsage(): string {
  const options = Object.entries(STACK_SETTINGS).map(
    ([name, meaning]) => `  ${`--${optionOf(name)}`.padEnd(NAME_WIDTH)}${meaning}`,
  );
  return `Synthesises and deploys the gateway on AWS.

  npx prism synth [options]       writes the CloudFormation templates to infra/dist/{stage}; asks AWS for nothing
  npm run deploy -- [options]     looks for what stands in the way, says what it costs, shows what changes in access
                                  rights and asks, mends what an earlier attempt left, deploys, and calls /ready
  npm run deploy -- --diff [options]   shows what a deployment would change

Settings are options, or lines NAME=value of infra/stages/{stage}.env (or of the file given by --settings); options win.

${options.join('\n')}
  ${'--settings FILE'.padEnd(NAME_WIDTH)}another file of settings
  ${'--yes'.padEnd(NAME_WIDTH)}deploy without asking
  ${'--now'.padEnd(NAME_WIDTH)}give the new version all calls once its hook has checked it, without the ten minutes: to revoke, or roll back
  ${'--help'.padEnd(NAME_WIDTH)}this

Settings of the gateway itself, as in \`npm start -- --help\`; IDENTITY_ISSUER and IDENTITY_APP_ID are needed to deploy:
${wrap(
  GATEWAY_SETTINGS.map((name) => `--${optionOf(name)}`),
  '  ',
)}

docs/operations-aws.md says how to go about it.
`;
}
