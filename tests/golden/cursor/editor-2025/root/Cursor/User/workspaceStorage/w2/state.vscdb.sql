create table ItemTable (key text unique on conflict replace, value blob);
insert into ItemTable values ('workbench.view', 'x');
