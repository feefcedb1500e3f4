import { useState, type ReactNode } from 'react';
import { t } from '../l10n';
import { LinkButton } from '../ui';

export interface TableColumn<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** True for a column of numbers, aligned right so that digits line up. */
  readonly isNumber?: boolean;
}

interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly getKey: (row: Row, index: number) => string;
}

/** Number of rows that are shown at first. */
const ROWS_SHOWN_AT_FIRST = 10;
/** A button would take as much room as this many more rows. */
const MIN_HIDDEN_ROWS = 2;

/** Scrolls sideways if it is too wide. The first cell of each row is its header. */
export function Table<Row>({ label, columns, rows, getKey }: TableProps<Row>): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const shownRows =
    isWhole || rows.length <= ROWS_SHOWN_AT_FIRST + MIN_HIDDEN_ROWS ? rows : rows.slice(0, ROWS_SHOWN_AT_FIRST);
  const [firstColumn, ...otherColumns] = columns;
  return (
    <div>
      <div className="table-frame" tabIndex={0} role="region" aria-label={label}>
        <table className="table">
          <thead>
            <tr>
              {columns.map(({ title, isNumber = false }) => (
                <th key={title} scope="col" className={getCellClass(isNumber)}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shownRows.map((row, index) => (
              <tr key={getKey(row, index)}>
                {firstColumn && <th scope="row">{firstColumn.cell(row)}</th>}
                {otherColumns.map(({ title, cell, isNumber = false }) => (
                  <td key={title} className={getCellClass(isNumber)}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shownRows.length < rows.length && (
        <p className="table-more">
          <LinkButton
            onClick={() => {
              setWhole(true);
            }}
          >
            {t('Show all {0} rows', rows.length)}
          </LinkButton>
        </p>
      )}
    </div>
  );
}

const getCellClass = (isNumber: boolean): string | undefined => (isNumber ? 'number' : undefined);
