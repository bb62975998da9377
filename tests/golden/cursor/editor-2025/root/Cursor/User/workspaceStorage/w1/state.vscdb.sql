create table ItemTable (key text unique on conflict replace, value blob);
insert into ItemTable values ('composer.composerData', '{"allComposers": [{"composerId": "00000005-0000-4000-8000-000000000000", "name": "Red build"}], "selectedComposerIds": []}');
insert into ItemTable values ('workbench.view', 'x');
