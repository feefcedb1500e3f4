import type { ReactNode } from 'react';
import type { PanelCommand } from '../../../src/panel/protocol';
import { t } from '../l10n';
import { listAnsweringPlaces } from '../searchTopics';
import { usePanel } from '../state/panel';
import { useSearchQuery } from '../state/search';
import { Button } from '../ui';

interface SearchAnswer {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly actions: readonly (readonly [command: PanelCommand, label: string])[];
}

const listSearchAnswers = (): readonly SearchAnswer[] => [
  {
    id: 'answers.agents',
    title: t('Claude Code, Codex and other agents'),
    text: t(
      'Condense a stored session, then give it back to its agent or start a new session with it. Or open the agent condensed: its requests then go through a gateway on this machine, which condenses them.',
    ),
    actions: [
      ['condenseNow', t('Condense a conversation…')],
      ['openAgent', t('Open an agent, condensed…')],
      ['openGateway', t('Open a gateway for agent extensions…')],
    ],
  },
  {
    id: 'answers.undo',
    title: t('Undo and originals'),
    text: t(
      'The original is always kept. A condensation can be undone here and in History and savings; what was given back, in the menu of its conversation.',
    ),
    actions: [['undo', t('Undo the last condensation')]],
  },
];

/** Answers a search for what is no setting. */
export function SearchAnswers(): ReactNode {
  const { connection } = usePanel();
  const places = listAnsweringPlaces(useSearchQuery());
  return listSearchAnswers()
    .filter(({ id }) => places.includes(`#${id}`))
    .map(({ id, title, text, actions }) => (
      <div key={id} className="row search-answer" data-place={id}>
        <span className="row-name">{title}</span>
        <p className="row-help">{text}</p>
        <p className="actions row-control">
          {actions.map(([command, label]) => (
            <Button
              key={command}
              onClick={() => void connection.sendRequest('runCommand', { command }).catch(() => undefined)}
            >
              {label}
            </Button>
          ))}
        </p>
      </div>
    ));
}
