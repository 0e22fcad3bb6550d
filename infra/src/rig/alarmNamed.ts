import type { AlarmProperties } from './alarms.ts';
import { EXAMPLE_SETTINGS, type Variant } from './exampleSettings.ts';
import { findResources } from './readTemplate.ts';

/** Finds an alarm by the last part of its name. @param variant - `prod` unless given */
export function alarmNamed(name: string, variant: Variant = 'prod'): AlarmProperties {
  const { STAGE } = EXAMPLE_SETTINGS[variant];
  const found = Object.values(findResources(variant, 'AWS::CloudWatch::Alarm')).find(
    ({ Properties }) => Properties.AlarmName === `prism-gateway-${STAGE}-${name}`,
  );
  if (found === undefined) throw new Error(`There is no alarm ${name}`);
  return found.Properties;
}
