/** Set-up for each test file, since files of a worker share modules, including the fake VS Code. */
import { openNewWindow } from './vscode';

openNewWindow();
