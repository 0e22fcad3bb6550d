import * as z from 'zod/mini';

/** All that is known of one setting: the one place of its form, its default, its meaning, and whether it is a secret. */
export interface Setting<Field extends z.ZodMiniType = z.ZodMiniType> {
  /** Reads the text; with the default, if there is one. */
  readonly field: Field;
  /** The default that the help shows; empty: nothing is set. */
  readonly initial: string;
  /** One sentence, with the unit and what 0 means. */
  readonly help: string;
  /** Never printed; `NAME_FILE` may name the file that holds it. */
  readonly isSecret: boolean;
  /** Heading of the settings that begin with this one. */
  readonly heading: string | undefined;
}

/** The settings of a program, by name, in the order of the help. */
export type Settings = Readonly<Record<string, Setting>>;

/** Values of settings, parsed. */
export type SettingValues<All extends Settings> = { [Name in keyof All]: z.output<All[Name]['field']> };

interface About {
  readonly heading?: string;
  readonly isSecret?: boolean;
}

/**
 * A setting that need not be given.
 *
 * @param about.unset - what then happens, as the help's default: `generated`
 */
export function setting<Field extends z.ZodMiniType>(
  field: Field,
  help: string,
  about?: About & { readonly unset?: string },
): Setting<z.ZodMiniOptional<Field>>;
/**
 * A setting with a default.
 *
 * @param about.initial - the default, as one would write it; the field reads it
 */
export function setting<Field extends z.ZodMiniType>(
  field: Field,
  help: string,
  about: About & { readonly initial: string; readonly unset?: string },
): Setting<z.ZodMiniPrefault<Field>>;
export function setting(
  field: z.ZodMiniType,
  help: string,
  { initial, unset, isSecret = false, heading }: About & { initial?: string; unset?: string } = {},
): Setting {
  return {
    field: initial === undefined ? z.optional(field) : z.prefault(field, initial),
    initial: unset ?? initial ?? '',
    ...{ help, isSecret, heading },
  };
}

/** Names of the settings that are secrets, or hold one. */
export const secretNames = (settings: Settings): readonly string[] =>
  Object.keys(settings).filter((name) => settings[name]?.isSecret);

/** Texts that must never be printed: the values of secrets. */
export function secretValues(settings: Settings, values: Readonly<Record<string, unknown>>): readonly string[] {
  return secretNames(settings)
    .flatMap((name) => values[name])
    .filter((value) => typeof value === 'string');
}
