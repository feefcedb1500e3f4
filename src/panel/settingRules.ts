/** What is wrong with a setting's value: by the setting's own rule where it has one, else by its schema in package.json. */
import * as z from 'zod';
import { validate } from '../core/condense/config';
import { promptProblems } from '../core/condense/summary/prompt';
import type { CondensationProvider, ConfigProblem, ConfigSchema } from '../core/condense/types';
import { isRecord } from '../core/messages/blocks';
import { parsePresets } from '../settings/presets';
import { parseProfiles } from '../settings/profiles';

type Rule = (value: unknown) => readonly ConfigProblem[];

/** Where a provider's configuration is kept: the setting of its id. */
const providerRule =
  (provider: CondensationProvider): Rule =>
  (value) => {
    const result = provider.validateConfig(value);
    return result.valid ? [] : result.problems;
  };

const RULES: Readonly<Record<string, Rule>> = {
  profiles: (value) =>
    parseProfiles(value).problems.map(({ path, message }) => ({ path: path.replace(/^profiles\.?/, ''), message })),
  presets: (value) =>
    parsePresets(value).problems.map(({ path, message }) => ({ path: path.replace(/^presets\.?/, ''), message })),
  condensingPrompt: (value) => (typeof value === 'string' ? promptProblems(value, '') : []),
};

export class SettingRules {
  private readonly rules = new Map<string, Rule[]>();

  /**
   * @param schemas the settings' schemas by name.
   * @param providers those whose configuration is a setting.
   * @param registered those of other extensions, which have theirs in the setting `providers`.
   */
  constructor(
    schemas: Readonly<Record<string, ConfigSchema>>,
    private readonly providers: readonly CondensationProvider[],
    private readonly registered: () => readonly CondensationProvider[] = () => [],
  ) {
    for (const [name, schema] of Object.entries(schemas)) {
      const own = RULES[name] ?? this.ownRule(name);
      const provider = providers.find(({ id }) => id === name);
      // A provider knows more than its schema in package.json, such as the names of the user's own presets.
      this.rules.set(name, provider ? [providerRule(provider)] : [...(own ? [own] : []), schemaRule(schema)]);
    }
  }

  /**
   * The configuration that a provider makes of a setting's value: its defaults where the value isn't sound; of the setting
   * `providers`, by id. Undefined for a setting that is no provider's.
   */
  effective(name: string, value: unknown): unknown {
    if (name === 'providers') {
      return Object.fromEntries(
        this.registered().map((provider) => [provider.id, effectiveConfig(provider, configIn(value, provider))]),
      );
    }
    const provider = this.providers.find(({ id }) => id === name);
    return provider && effectiveConfig(provider, value);
  }

  /** What the schema can't say: which providers there are. */
  private ownRule(name: string): Rule | undefined {
    switch (name) {
      case 'provider':
        return (value) => {
          const known = [...this.providers, ...this.registered()].map(({ id }) => id);
          if (value === undefined || known.some((id) => id === value)) return [];
          return [
            { path: '', message: `there is no provider ${JSON.stringify(value)}; known are ${known.join(', ')}` },
          ];
        };
      case 'providers':
        return (value) =>
          this.registered().flatMap((provider) => {
            return providerRule(provider)(configIn(value, provider)).map(({ path, message }) => ({
              path: [provider.id, path].filter((part) => part !== '').join('.'),
              message,
            }));
          });
      default:
        return undefined;
    }
  }

  /** @returns the problems by path inside the setting; none where there is no such setting's value to judge. */
  problems(name: string, value: unknown): readonly ConfigProblem[] {
    for (const rule of this.rules.get(name) ?? []) {
      const problems = rule(value);
      if (problems.length > 0) return problems;
    }
    return [];
  }
}

/** What the setting `providers` holds for one of another extension. */
const configIn = (value: unknown, { id }: CondensationProvider): unknown =>
  isRecord(value) && Object.hasOwn(value, id) ? value[id] : undefined;

/** The defaults where the value isn't sound. */
function effectiveConfig(provider: CondensationProvider, value: unknown): unknown {
  const result = provider.validateConfig(value);
  if (result.valid) return result.config;
  const defaults = provider.validateConfig(undefined);
  return defaults.valid ? defaults.config : undefined;
}

/** Made when it is first needed: most settings are never changed while a panel is open. */
function schemaRule(schema: ConfigSchema): Rule {
  let parser: z.ZodType | undefined;
  return (value) => {
    parser ??= z.fromJSONSchema(schema);
    // An absent value takes the default before it is judged here.
    if (value === undefined) return [];
    const result = validate(parser, value);
    return result.valid ? [] : result.problems;
  };
}
