import { writeSettingsHelp } from '@prism-gateway/node/settings';
import { relayerSettings } from './relayerSettings.ts';

/** The output of `npx prism relayer --help`. */
export const usage = `Prism relayer: npx prism relayer

Claims requests of a gateway, submits them to the Forwarder, reports. Settings are environment variables.

  npx prism relayer                            works until SIGTERM or SIGINT; its log is JSON, a line an event
  npx prism relayer status [--json]            what it holds, has evaluated and why, waits for, has spent and earned
  npx prism relayer explain REQUEST_ID         all that it knows of one request; --json, too
  Both read the journals of DATA_DIR, of a relayer at work or not.

${writeSettingsHelp(relayerSettings)}
`;
