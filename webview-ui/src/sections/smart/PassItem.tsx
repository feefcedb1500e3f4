import { useSortable } from '@dnd-kit/sortable';
import type { ReactNode } from 'react';
import { DisclosureButton } from '../../components/Disclosure';
import { ProblemList } from '../../components/Problems';
import { t } from '../../l10n';
import { matchesQuery, useSearchQuery } from '../../state/search';
import { useSetting } from '../../state/useSetting';
import { EditedEntryContext } from '../../state/editedEntry';
import { OPERATIONS } from '../../../../src/core/condense/edits/operations';
import { Checkbox, Icon, IconButton } from '../../ui';
import { PassDraftBar } from './DraftBar';
import { usePassDraft } from './passDraft';
import { describePass } from './passSentence';
import { PassEditor } from './PassEditor';
import type { PassEntry } from './smartValue';
import type { PassListState } from './usePasses';

interface PassItemProps {
  readonly name: string;
  readonly entry: PassEntry;
  readonly count: number;
  readonly passes: PassListState;
  readonly isOpen: boolean;
  /** True if there is no search, or if the search matches the whole list. */
  readonly isListFound: boolean;
  readonly onToggle: () => void;
}

export function PassItem({ name, entry, count, passes, isOpen, isListFound, onToggle }: PassItemProps): ReactNode {
  const { setNodeRef, setActivatorNodeRef, attributes, listeners, transform, transition, isDragging } = useSortable({
    id: entry.key,
  });
  const setting = useSetting(name, ['passes', entry.index]);
  const enabled = useSetting(name, ['passes', entry.index, 'enabled']);
  const draft = usePassDraft(entry);
  const { index, name: passName } = entry;
  const query = useSearchQuery();
  const isFound = isListFound || matchesQuery(query, listSearchWords(entry));
  // Expanded if the search matches one of its fields.
  const isUnfolded = isOpen || !isFound;
  const style = { transform: transform ? `translate3d(0, ${Math.round(transform.y)}px, 0)` : undefined, transition };
  return (
    <li
      ref={setNodeRef}
      style={style}
      className={isDragging ? 'item pass dragged' : 'item pass'}
      data-place={query !== '' && isFound ? setting.id : undefined}
    >
      <div className="item-line">
        <button
          type="button"
          className="icon-button handle"
          ref={setActivatorNodeRef}
          {...attributes}
          {...listeners}
          aria-label={t('Move {0}', passName)}
          title={t('Drag to move')}
        >
          <Icon name="gripper" />
        </button>
        <Checkbox
          label={t('Run {0}', passName)}
          isLabelHidden
          checked={entry.isEnabled}
          onChange={(checked) => enabled.save(checked)}
        />
        <span className="pass-number">{t('{0}', index + 1)}</span>
        <DisclosureButton isOpen={isUnfolded} onToggle={onToggle} className="item-name">
          {passName || t('Pass {0}', index + 1)}
        </DisclosureButton>
        {draft.isChanged && <span className="badge">{t('draft')}</span>}
        {!entry.isEnabled && <span className="badge">{t('off')}</span>}
        <span className="item-buttons">
          <IconButton
            icon="arrow-up"
            label={t('Move {0} up', passName)}
            disabled={index === 0}
            onClick={() => void passes.move(index, index - 1)}
          />
          <IconButton
            icon="arrow-down"
            label={t('Move {0} down', passName)}
            disabled={index === count - 1}
            onClick={() => void passes.move(index, index + 1)}
          />
          <IconButton icon="copy" label={t('Duplicate {0}', passName)} onClick={() => void passes.duplicate(entry)} />
          <IconButton icon="trash" label={t('Delete {0}', passName)} onClick={() => void passes.remove(entry)} />
        </span>
      </div>
      <p className="pass-sentence">{describePass(draft.entry)}</p>
      <ProblemList problems={[...(isOpen ? [] : setting.problems), ...enabled.refused]} />
      {isUnfolded && (
        <div className="item-content">
          <EditedEntryContext value={draft.edited}>
            <PassEditor key={draft.round} name={name} entry={draft.entry} />
          </EditedEntryContext>
          {isOpen && <PassDraftBar draft={draft} onApply={(value) => passes.replace(entry, value)} />}
        </div>
      )}
    </li>
  );
}

const listSearchWords = (entry: PassEntry): readonly string[] => {
  const { name, raw, operations, mode, callsModel } = entry;
  return [
    name,
    describePass(entry),
    typeof raw['description'] === 'string' ? raw['description'] : '',
    ...operations.flatMap(({ content, operation }) => [content, t(OPERATIONS[operation].label)]),
    mode === 'batch' ? t('all at once') : t('one by one'),
    callsModel ? t('calls a model') : t('free'),
  ];
};
